// Renders a chart as Helm does, with the text/template of Go and the functions of Sprig: GO111MODULE=off GOPATH=/usr/share/gocode go run main.go FOLDER < context.json
package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type files struct{ folder string }

// Get reads a file of the chart, as .Files.Get does.
func (f files) Get(name string) string {
	content, err := os.ReadFile(filepath.Join(f.folder, name))
	if err != nil {
		return ""
	}
	return string(content)
}

func main() {
	folder := os.Args[1]
	context := map[string]interface{}{}
	check(json.NewDecoder(os.Stdin).Decode(&context))
	context["Files"] = files{folder}
	all := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	all.Funcs(functions)
	names, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	check(err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		check(err)
		_, err = all.New(filepath.Base(name)).Parse(string(text))
		check(err)
	}
	rendered := map[string]string{}
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		var text strings.Builder
		check(all.ExecuteTemplate(&text, filepath.Base(name), context))
		rendered[filepath.Base(name)] = text.String()
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}
