// An oracle for the selectors of DRA devices: real and random CEL expressions, and what Kubernetes' own library makes
// of them. One JSON line per expression on standard output, the shares of the answers on standard error.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/dynamic-resource-allocation/cel"
)

// selector is one expression and the devices it is asked about. The devices are kept as JSON, because a quantity
// that went through Kubernetes' types comes out in its canonical form, and other spellings have to be tried too.
type selector struct {
	Expression string            `json:"expression"`
	Devices    []json.RawMessage `json:"devices"`
	Driver     string            `json:"driver"`
}

type record struct {
	selector
	Answers      []string `json:"answers"`
	CompileError string   `json:"compileError,omitempty"`
	Errors       []string `json:"errors,omitempty"`
}

func main() {
	log.SetFlags(0)
	seed := flag.Uint64("seed", 1, "of the random selectors; the fixed ones come first and are always the same")
	count := flag.Int("count", 1000, "selectors to print, the fixed ones included")
	explain := flag.Bool("explain", false, "also print the texts of the errors of evaluation")
	flag.Parse()
	if flag.NArg() > 0 {
		log.Fatalf("selectors: unexpected argument %q", flag.Arg(0))
	}

	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	shares := map[string]int{}
	fixed := fixedSelectors()
	random := newGenerator(*seed)
	for i := range *count {
		var s selector
		if i < len(fixed) {
			s = fixed[i]
		} else {
			s = random.selector()
		}
		r, err := answer(s)
		if err != nil {
			log.Fatalf("selectors: %s: %v", s.Expression, err)
		}
		for _, a := range r.Answers {
			shares[a]++
		}
		if r.CompileError != "" {
			shares["compileError"]++
		}
		if !*explain {
			r.Errors = nil
		}
		if err := encoder.Encode(r); err != nil {
			log.Fatalf("selectors: %v", err)
		}
	}
	if err := out.Flush(); err != nil {
		log.Fatalf("selectors: %v", err)
	}
	answers := shares["true"] + shares["false"] + shares["error"]
	for _, kind := range []string{"true", "false", "error"} {
		log.Printf("%-12s %6d of %d answers, %.1f %%", kind, shares[kind], answers, percent(shares[kind], answers))
	}
	log.Printf("%-12s %6d of %d selectors, %.1f %%", "compileError", shares["compileError"], *count,
		percent(shares["compileError"], *count))
}

func percent(part, whole int) float64 {
	return 100 * float64(part) / float64(max(whole, 1))
}

// The library's parser panics on some texts that were made by mutation; the API server answers these with an error.
func compile(expression string) (result cel.CompilationResult) {
	defer func() {
		if recovered := recover(); recovered != nil {
			result = cel.CompilationResult{Error: &apiservercel.Error{Detail: "panic"}}
		}
	}()
	return cel.GetCompiler(cel.Features{EnableConsumableCapacity: true}).CompileCELExpression(expression, cel.Options{})
}

func answer(s selector) (record, error) {
	r := record{selector: s}
	compiled := compile(s.Expression)
	if compiled.Error != nil {
		r.CompileError = strings.ToValidUTF8(strings.SplitN(compiled.Error.Detail, "\n", 2)[0], "?")
	}
	for _, raw := range s.Devices {
		var device resourceapi.Device
		if err := json.Unmarshal(raw, &device); err != nil {
			return r, fmt.Errorf("device %s: %w", raw, err)
		}
		if compiled.Error != nil {
			r.Answers = append(r.Answers, "error")
			continue
		}
		matches, err := match(compiled, s.Driver, &device)
		switch {
		case err != nil:
			r.Answers = append(r.Answers, "error")
			r.Errors = append(r.Errors, err.Error())
		default:
			r.Answers = append(r.Answers, fmt.Sprint(matches))
		}
	}
	return r, nil
}

// A panic of the library is an answer too: the scheduler would not allocate either.
func match(compiled cel.CompilationResult, driver string, device *resourceapi.Device) (matches bool, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			err = fmt.Errorf("panic: %v", caught)
		}
	}()
	matches, _, err = compiled.DeviceMatches(context.Background(), cel.Device{
		Driver:                   driver,
		AllowMultipleAllocations: device.AllowMultipleAllocations,
		Attributes:               device.Attributes,
		Capacity:                 device.Capacity,
	})
	return matches, err
}
