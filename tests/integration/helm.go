// SPDX-License-Identifier: Apache-2.0
// What `helm template` does with a chart, from the libraries that helm has it from: text/template, sprig and sigs.k8s.io/yaml. For
// machines without helm: Debian has these libraries, and not the program.
//
// usage: helm template NAME CHART [--values FILE]... [--set-file PATH=FILE]... [--set PATH=YAML]...
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
)

type files string

// Get is .Files.Get: the content of a file of the chart; empty if it is absent, as in helm.
func (f files) Get(name string) string {
	text, err := os.ReadFile(filepath.Join(string(f), name))
	if err != nil {
		fmt.Fprintln(os.Stderr, "warning:", err)
	}
	return string(text)
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func read(name string) map[string]interface{} {
	text, err := os.ReadFile(name)
	must(err)
	out := map[string]interface{}{}
	must(yaml.Unmarshal(text, &out))
	return out
}

// A value of `over` replaces that of `into`, maps are merged, null removes.
func merge(into, over map[string]interface{}) {
	for key, value := range over {
		below, isMap := value.(map[string]interface{})
		if old, wasMap := into[key].(map[string]interface{}); isMap && wasMap {
			merge(old, below)
		} else if value == nil {
			delete(into, key)
		} else {
			into[key] = value
		}
	}
}

func at(path string, value interface{}) map[string]interface{} {
	names := strings.Split(path, ".")
	for i := len(names) - 1; i >= 0; i-- {
		value = map[string]interface{}{names[i]: value}
	}
	return value.(map[string]interface{})
}

func main() {
	if len(os.Args) < 4 || os.Args[1] != "template" {
		must(fmt.Errorf("usage: helm template NAME CHART [OPTION VALUE]..."))
	}
	chart := os.Args[3]
	values := read(filepath.Join(chart, "values.yaml"))
	for i := 4; i+1 < len(os.Args); i += 2 {
		path, text, _ := strings.Cut(os.Args[i+1], "=")
		switch os.Args[i] {
		case "--values":
			merge(values, read(os.Args[i+1]))
		case "--set-file":
			content, err := os.ReadFile(text)
			must(err)
			merge(values, at(path, string(content)))
		case "--set":
			var value interface{}
			must(yaml.Unmarshal([]byte(text), &value))
			merge(values, at(path, value))
		case "--namespace":
		default:
			must(fmt.Errorf("unknown option %s", os.Args[i]))
		}
	}
	about := read(filepath.Join(chart, "Chart.yaml"))
	capital := map[string]interface{}{}
	for key, value := range about {
		capital[strings.ToUpper(key[:1])+key[1:]] = value
	}

	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out strings.Builder
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	functions["toJson"] = func(value interface{}) (string, error) {
		text, err := json.Marshal(value)
		return string(text), err
	}
	functions["sha256sum"] = func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }
	all.Funcs(functions)
	names, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	must(err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		must(err)
		_, err = all.New(filepath.Base(name)).Parse(string(text))
		must(err)
	}
	data := map[string]interface{}{
		"Values": values, "Chart": capital, "Files": files(chart),
		"Release": map[string]interface{}{"Name": os.Args[2], "Namespace": "fabric-agent", "Service": "Helm"},
	}
	for _, name := range names {
		if !strings.HasSuffix(name, ".yaml") {
			continue
		}
		var out strings.Builder
		must(all.ExecuteTemplate(&out, filepath.Base(name), data))
		// A document that is not YAML is an error here, as with helm.
		for _, document := range strings.Split("\n"+out.String(), "\n---") {
			if strings.TrimSpace(document) == "" {
				continue
			}
			var object map[string]interface{}
			if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
				fmt.Fprint(os.Stderr, document)
				must(fmt.Errorf("%s: %w", name, err))
			}
			fmt.Printf("---\n# Source: %s\n%s\n", filepath.Base(name), strings.Trim(document, "\n"))
		}
	}
}
