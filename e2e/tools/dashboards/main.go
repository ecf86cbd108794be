// dashboard-check reads Grafana dashboards by the schema that Grafana publishes, and tells what does not fit it.
//
//	dashboard-check FILE...
//
// One line for each mistake: the file, the path in it, the reason. Exit code 1 where there is one.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

var unexpected = regexp.MustCompile("^unexpected field '(.*)'$")

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: dashboard-check FILE...")
		os.Exit(2)
	}
	plugins.RegisterDefaultPlugins()
	bad := 0
	for _, file := range os.Args[1:] {
		for _, mistake := range check(file) {
			fmt.Printf("%s: %s\n", file, mistake)
			bad++
		}
	}
	if bad > 0 {
		os.Exit(1)
	}
}

func check(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return []string{err.Error()}
	}
	// The strict reading tells of every mistake, but leaves panels empty.
	if mistakes := said(new(dashboard.Dashboard).UnmarshalJSONStrict(text)); len(mistakes) > 0 {
		return mistakes
	}
	var board dashboard.Dashboard
	if err := json.Unmarshal(text, &board); err != nil {
		return said(err)
	}
	return append(said(board.Validate()), unknown(text)...)
}

// One line for each. Of no mistakes the schema's functions make an error, too: an empty one.
func said(err error) []string {
	if err == nil {
		return nil
	}
	var several cog.BuildErrors
	if !errors.As(err, &several) {
		return []string{err.Error()}
	}
	var lines []string
	for _, one := range several {
		path, message := one.Path, one.Message
		// The schema's types name themselves there, and not the field.
		if name := unexpected.FindStringSubmatch(message); name != nil {
			path, message = path[:strings.LastIndex(path, ".")+1]+name[1], "unexpected field"
		}
		lines = append(lines, path+": "+message)
	}
	return lines
}

// What no plug-in of Grafana's knows the schema takes as it is. A query is of the data source that it names itself.
func unknown(text []byte) []string {
	var board struct {
		Panels []struct {
			Type    string
			Targets []json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		return []string{err.Error()}
	}
	var lines []string
	for i, panel := range board.Panels {
		if _, found := cog.ConfigForPanelcfgVariant(panel.Type); !found && panel.Type != "row" {
			lines = append(lines, fmt.Sprintf("panels[%d].type: Grafana has no panel %q", i, panel.Type))
		}
		for j, target := range panel.Targets {
			query, _ := cog.StrictUnmarshalDataquery(target, "")
			if _, bag := query.(variants.UnknownDataquery); bag {
				lines = append(lines, fmt.Sprintf("panels[%d].targets[%d].datasource: of no type that Grafana has", i, j))
			}
		}
	}
	return lines
}
