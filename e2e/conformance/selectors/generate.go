package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

const (
	ownDomain   = "gpu.example.com"
	otherDomain = "other.example.com"
	sharedPlace = "resource.kubernetes.io"
)

type kind int

const (
	kBool kind = iota
	kInt
	kString
	kVersion
	kQuantity
	kInts
	kStrings
)

var scalars = []kind{kBool, kInt, kString, kVersion, kQuantity}

// Few names, so that expressions meet attributes that are there, of the expected type or of another.
var nameKinds = []struct {
	name string
	kind kind
}{
	{"model", kString}, {"cores", kInt}, {"ecc", kBool}, {"driverVersion", kVersion}, {"type", kString},
	{"numa", kInt}, {"healthy", kBool}, {"link", kString}, {"firmware", kVersion}, {"size", kInt},
}

var pool = map[kind][]string{
	kBool: {"true", "false"},
	kInt: {"0", "1", "2", "3", "7", "8", "10", "64", "108", "132", "-1", "-2", "-7", "80", "1000",
		"9223372036854775807", "-9223372036854775808", "4611686018427387904"},
	kString: {"", "A100", "a100", "H100", "NVIDIA A100-PCIE-40GB", "NVIDIA H100 80GB HBM3", "gpu", "mig", "1g.10gb",
		"0000:65:00.0", "pci0000:64", "Grüße", "数据", "🚀", "İSTANBUL", "a\tb", `back\slash`, `it's`, `say "x"`,
		"sym;dc", "1.2.3", "80Gi", "x"},
	kVersion: {"0.0.0", "1.0.0", "1.2.3", "1.2.3-rc.1", "1.2.3-rc.2", "1.2.3-rc.10", "1.2.3-alpha", "1.2.3+build.5",
		"1.2.3-rc.1+build.5", "1.10.0", "2.0.0", "9.0.0", "12.4.0", "550.54.15", "580.126.20"},
	kQuantity: {"80Gi", "40960Mi", "40Gi", "1500m", "0.5", "500m", "2", "2000m", "1e3", "1k", "1Ki", "0", "24G", "1.5Gi",
		"1536Mi", "100", "1Ti", "0.1", "100m", "1u", "1n", "-1", "-0.5", "1E", "8Ei"},
}

// Texts that a parser of quantities, of versions or of expressions has to refuse, or is tempted to.
var oddQuantities = []string{"", "Gi", "1 Gi", " 1", "1gi", "1K", "1.5.2", "+1", "-1Gi", "1e", "1e+3", "1E3", ".5", "5.",
	"1e-3", "9223372036854775808", "9999999999999999999999999999999999999G", "0.0000000001", "0x10", "1_000", "16Ei",
	"1e3Gi", "١", "1ki", "00", "-0", "1e400"}
var oddVersions = []string{"", "1", "1.2", "v1.2.3", "1.2.3.4", "01.2.3", "1.02.3", "1.2.3-", "1.2.3-01", "1.2.3+",
	"1.2.3-rc..1", " 1.2.3", "1.2.3-0a", "18446744073709551616.0.0", "9223372036854775808.0.0", "1.2.x", "v1.2", "v1",
	"01.01.01", "1.2.3+01", "1.2.-3", "a.b.c"}
var patterns = []string{"A100", "^A100$", "^[aAhH]100$", "a|b", "^$", "", ".*", "^.*a100.*$", "(?i)a100", `\d+`, `^\d+g\.\d+gb$`,
	`[[:alpha:]]+`, `^0000:[0-9a-f]{2}:00\.0$`, "^NVIDIA .*(A|H)100", "[^a]?sym", `\p{L}+`, "^.$", "(", "a{2,1}", "[", `(?=x)`, `(a)\1`,
	"^.{2}$", `\bGB\b`, "x*"}

type value struct {
	kind kind
	text string
}

type generated struct {
	attributes map[string]map[string]value
	capacity   map[string]map[string]value
}

type variable struct {
	name string
	kind kind
}

type generator struct {
	r         *rand.Rand
	devices   []generated
	variables []variable
	domains   map[string]string // variables that are bound to the attributes of a domain
	next      int
}

func newGenerator(seed uint64) *generator {
	return &generator{r: rand.New(rand.NewPCG(seed, 0x5e1ec7))}
}

func (g *generator) selector() selector {
	s := selector{Driver: ownDomain, Devices: g.drawDevices()}
	g.variables, g.domains, g.next = nil, map[string]string{}, 0
	e := g.expr(kBool, 1+g.r.IntN(4))
	if g.chance(0.05) {
		e = g.outside()
	}
	s.Expression = e.text
	switch {
	case g.chance(0.05):
		s.Expression = g.mutate(s.Expression)
	case g.chance(0.02):
		s.Expression = pick(g, []string{"  ", "\n", "\t", "// a comment\n"}) + s.Expression + pick(g, []string{"", " // end", "\r\n"})
	}
	return s
}

func (g *generator) chance(p float64) bool { return g.r.Float64() < p }

func pick[T any](g *generator, from []T) T { return from[g.r.IntN(len(from))] }

// drawDevices makes three devices of one scheme with exceptions: one driver publishes alike devices, and where they
// differ is where selectors fail.
func (g *generator) drawDevices() []json.RawMessage {
	type column struct {
		name, domain string
		kind         kind
	}
	var columns []column
	for _, i := range g.r.Perm(len(nameKinds))[:1+g.r.IntN(6)] {
		domain := ownDomain
		if g.chance(0.2) {
			domain = pick(g, []string{otherDomain, sharedPlace})
		}
		columns = append(columns, column{nameKinds[i].name, domain, nameKinds[i].kind})
	}
	var capacities []column
	for _, i := range g.r.Perm(3)[:g.r.IntN(3)] {
		domain := ownDomain
		if g.chance(0.1) {
			domain = otherDomain
		}
		capacities = append(capacities, column{[]string{"memory", "cores", "bandwidth"}[i], domain, kQuantity})
	}
	g.devices = nil
	var raws []json.RawMessage
	for i := range 3 {
		d := generated{map[string]map[string]value{}, map[string]map[string]value{}}
		attributes, capacity := map[string]any{}, map[string]any{}
		for j, c := range columns {
			if g.chance(0.08) && (j > 0 || len(columns) > 1) {
				continue
			}
			k := c.kind
			if g.chance(0.08) {
				k = scalars[g.r.IntN(4)]
			}
			v := value{k, pick(g, pool[k])}
			put(d.attributes, c.domain, c.name, v)
			attributes[g.qualified(c.domain, c.name)] = v.json()
		}
		for _, c := range capacities {
			if g.chance(0.05) {
				continue
			}
			v := value{kQuantity, pick(g, pool[kQuantity])}
			put(d.capacity, c.domain, c.name, v)
			capacity[g.qualified(c.domain, c.name)] = map[string]any{"value": v.text}
		}
		device := map[string]any{"name": fmt.Sprintf("gpu-%d", i), "attributes": attributes}
		if len(capacity) > 0 {
			device["capacity"] = capacity
		}
		if g.chance(0.3) {
			device["allowMultipleAllocations"] = g.chance(0.7)
		}
		g.devices = append(g.devices, d)
		raws = append(raws, raw(device))
	}
	return raws
}

func put(into map[string]map[string]value, domain, name string, v value) {
	if into[domain] == nil {
		into[domain] = map[string]value{}
	}
	into[domain][name] = v
}

// A name without a domain belongs to that of the driver, and both spellings are allowed.
func (g *generator) qualified(domain, name string) string {
	if domain == ownDomain && !g.chance(0.2) {
		return name
	}
	return domain + "/" + name
}

func (v value) json() any {
	switch v.kind {
	case kBool:
		return map[string]any{"bool": v.text == "true"}
	case kInt:
		return map[string]any{"int": json.Number(v.text)}
	case kVersion:
		return map[string]any{"version": v.text}
	default:
		return map[string]any{"string": v.text}
	}
}

func raw(device any) json.RawMessage {
	text, err := json.Marshal(device)
	if err != nil {
		panic(err)
	}
	return text
}

// expr is a text and how strongly its outermost operator binds, so that parentheses are set only where they are
// needed and the precedence of operators is tested.
type expr struct {
	text string
	prec int
}

const (
	pTernary = iota
	pOr
	pAnd
	pRelation
	pSum
	pProduct
	pUnary
	pMember
)

func member(format string, args ...any) expr { return expr{fmt.Sprintf(format, args...), pMember} }

func (g *generator) in(e expr, least int) string {
	if e.prec < least || g.chance(0.03) {
		return "(" + e.text + ")"
	}
	return e.text
}

func (g *generator) binary(operator string, prec int, a, b expr) expr {
	space := " "
	if operator != "in" && g.chance(0.05) {
		space = pick(g, []string{"", "  ", "\n  "})
	}
	return expr{g.in(a, prec) + space + operator + space + g.in(b, prec+1), prec}
}

func (g *generator) ternary(k kind, depth int) expr {
	return expr{g.in(g.expr(kBool, depth-1), pOr) + " ? " + g.in(g.expr(k, depth-1), pOr) + " : " +
		g.in(g.expr(k, depth-1), pTernary), pTernary}
}

func (g *generator) expr(k kind, depth int) expr {
	if g.chance(0.006) {
		k = kind(g.r.IntN(int(kStrings) + 1))
	}
	if g.chance(0.003) {
		return g.oddity()
	}
	if depth <= 0 {
		return g.leaf(k)
	}
	if g.chance(0.05) {
		return g.bind(k, depth)
	}
	if g.chance(0.04) {
		return g.ternary(k, depth)
	}
	switch k {
	case kBool:
		return g.bool(depth)
	case kInt:
		return g.int(depth)
	case kString:
		return g.string(depth)
	case kVersion:
		return g.version(depth)
	case kQuantity:
		return g.quantity(depth)
	default:
		return g.list(k, depth)
	}
}

func (g *generator) bool(depth int) expr {
	d := depth - 1
	switch n := g.r.IntN(100); {
	case n < 16:
		return g.binary("&&", pAnd, g.expr(kBool, d), g.expr(kBool, d))
	case n < 28:
		return g.binary("||", pOr, g.expr(kBool, d), g.expr(kBool, d))
	case n < 34:
		return expr{pick(g, []string{"!", "!", "!", "!!"}) + g.in(g.expr(kBool, d), pMember), pUnary}
	case n < 38:
		return g.binary(pick(g, []string{"==", "!="}), pRelation, g.expr(kBool, d), g.expr(kBool, d))
	case n < 50:
		k := pick(g, []kind{kInt, kInt, kInt, kString, kString, kBool})
		return g.binary(pick(g, []string{"==", "!=", "<", "<=", ">", ">="}), pRelation, g.expr(k, d), g.expr(k, d))
	case n < 55:
		k := pick(g, []kind{kVersion, kQuantity, kInts, kStrings})
		return g.binary(pick(g, []string{"==", "!="}), pRelation, g.expr(k, d), g.expr(k, d))
	case n < 63:
		name := pick(g, []string{"startsWith", "endsWith", "contains"})
		argument := g.expr(kString, 0)
		if g.chance(0.5) {
			argument = g.quote(g.part(pick(g, g.known(kString))))
		}
		return g.call(g.expr(kString, d), name, argument)
	case n < 67:
		pattern := pick(g, patterns)
		return g.call(g.expr(kString, d), "matches", g.quote(pattern))
	case n < 74:
		if g.chance(0.6) {
			return g.binary("in", pRelation, g.expr(kInt, d), g.expr(kInts, d))
		}
		return g.binary("in", pRelation, g.expr(kString, d), g.expr(kStrings, d))
	case n < 79:
		return g.presence()
	case n < 85:
		k := pick(g, []kind{kVersion, kQuantity})
		return g.call(g.expr(k, d), pick(g, []string{"isGreaterThan", "isLessThan"}), g.expr(k, d))
	case n < 88:
		if g.chance(0.5) {
			return member("isQuantity(%s)", g.quoteOr(kString, pick(g, append(oddQuantities, pool[kQuantity]...))).text)
		}
		if g.chance(0.3) {
			return member("isSemver(%s, %s)", g.quote(pick(g, oddVersions)).text, g.expr(kBool, 0).text)
		}
		return member("isSemver(%s)", g.quoteOr(kString, pick(g, append(oddVersions, pool[kVersion]...))).text)
	case n < 90:
		return g.call(g.expr(kQuantity, d), "isInteger")
	default:
		return g.guarded(d)
	}
}

func (g *generator) int(depth int) expr {
	d := depth - 1
	switch n := g.r.IntN(100); {
	case n < 30:
		return g.leaf(kInt)
	case n < 50:
		return g.binary(pick(g, []string{"+", "-"}), pSum, g.expr(kInt, d), g.expr(kInt, d))
	case n < 65:
		return g.binary(pick(g, []string{"*", "*", "/", "%"}), pProduct, g.expr(kInt, d), g.expr(kInt, d))
	case n < 70:
		return expr{pick(g, []string{"-", "-", "-", "--"}) + g.in(g.expr(kInt, d), pMember), pUnary}
	case n < 80:
		k := pick(g, []kind{kString, kString, kInts, kStrings})
		if g.chance(0.5) {
			return member("size(%s)", g.expr(k, d).text)
		}
		return g.call(g.expr(k, d), "size")
	case n < 88:
		k := pick(g, []kind{kVersion, kQuantity})
		return g.call(g.expr(k, d), "compareTo", g.expr(k, d))
	case n < 94:
		return g.call(g.expr(kVersion, d), pick(g, []string{"major", "minor", "patch"}))
	case n < 96:
		return g.call(g.expr(kQuantity, d), pick(g, []string{"asInteger", "asInteger", "asInteger", "sign"}))
	case n < 98:
		return member("sign(%s)", g.expr(kQuantity, d).text) // no method, unlike its siblings
	default:
		return member("%s[%d]", g.expr(kInts, 0).text, g.r.IntN(3))
	}
}

func (g *generator) string(depth int) expr {
	switch n := g.r.IntN(100); {
	case n < 60:
		return g.leaf(kString)
	case n < 75:
		return g.binary("+", pSum, g.expr(kString, depth-1), g.expr(kString, depth-1))
	case n < 97:
		return g.call(g.expr(kString, depth-1), pick(g, []string{"lowerAscii", "upperAscii"}))
	default:
		return member("%s[%d]", g.expr(kStrings, 0).text, g.r.IntN(3))
	}
}

func (g *generator) version(int) expr {
	switch n := g.r.IntN(100); {
	case n < 60:
		return g.leaf(kVersion)
	case n < 90:
		return member("semver(%s)", g.quoteOr(kString, pick(g, pool[kVersion])).text)
	case n < 94:
		return member("semver(%s)", g.quote(pick(g, oddVersions)).text)
	default:
		return member("semver(%s, %s)", g.quote(pick(g, append(oddVersions, pool[kVersion]...))).text,
			pick(g, []string{"true", "true", "false"}))
	}
}

func (g *generator) quantity(depth int) expr {
	switch n := g.r.IntN(100); {
	case n < 60:
		return g.leaf(kQuantity)
	case n < 80:
		return member("quantity(%s)", g.quoteOr(kString, pick(g, pool[kQuantity])).text)
	case n < 85:
		return member("quantity(%s)", g.quote(pick(g, oddQuantities)).text)
	default:
		k := pick(g, []kind{kQuantity, kInt})
		return g.call(g.expr(kQuantity, depth-1), pick(g, []string{"add", "sub"}), g.expr(k, depth-1))
	}
}

func (g *generator) list(k kind, depth int) expr {
	if depth > 0 && g.chance(0.15) {
		return g.binary("+", pSum, g.list(k, depth-1), g.list(k, depth-1))
	}
	of := kInt
	if k == kStrings {
		of = kString
	}
	var items []string
	for range g.r.IntN(4) {
		items = append(items, g.expr(of, min(depth-1, 1)).text)
	}
	if len(items) > 0 && g.chance(0.03) {
		items[len(items)-1] += ","
	}
	return member("[%s]", strings.Join(items, ", "))
}

func (g *generator) call(on expr, name string, arguments ...expr) expr {
	var texts []string
	for _, a := range arguments {
		texts = append(texts, a.text)
	}
	return member("%s.%s(%s)", g.in(on, pMember), name, strings.Join(texts, ", "))
}

// leaf is an attribute, a capacity, a variable or a literal.
func (g *generator) leaf(k kind) expr {
	if k == kInts || k == kStrings {
		return g.list(k, 0)
	}
	var bound []string
	for _, v := range g.variables {
		if v.kind == k {
			bound = append(bound, v.name)
		}
	}
	if len(bound) > 0 && g.chance(0.5) {
		return expr{pick(g, bound), pMember}
	}
	switch {
	case k == kString && g.chance(0.15):
		return expr{"device.driver", pMember}
	case k == kBool && g.chance(0.2):
		return expr{"device.allowMultipleAllocations", pMember}
	}
	if g.chance(0.6) {
		if e, ok := g.reference(k); ok {
			return e
		}
	}
	return g.literal(k)
}

func (g *generator) literal(k kind) expr {
	text := pick(g, pool[k])
	if g.chance(0.6) {
		text = pick(g, g.known(k))
	}
	switch k {
	case kInt:
		return g.intLiteral(text)
	case kString:
		return g.quote(text)
	case kVersion:
		return member("semver(%s)", g.quote(text).text)
	case kQuantity:
		return member("quantity(%s)", g.quote(text).text)
	default:
		return expr{text, pMember}
	}
}

func (g *generator) intLiteral(text string) expr {
	digits, negative := strings.CutPrefix(text, "-")
	if g.chance(0.1) {
		n, err := strconv.ParseUint(digits, 10, 64)
		if err == nil {
			digits = fmt.Sprintf(pick(g, []string{"0x%x", "0x%X", "0x0%x"}), n)
		}
	}
	if negative {
		return expr{"-" + digits, pUnary}
	}
	return expr{digits, pMember}
}

// known lists the values that the devices have of a kind, for comparisons that have both outcomes.
func (g *generator) known(k kind) []string {
	var found []string
	for _, d := range g.devices {
		for _, place := range []map[string]map[string]value{d.attributes, d.capacity} {
			for _, domain := range []string{ownDomain, otherDomain, sharedPlace} {
				for _, name := range names() {
					if v, ok := place[domain][name]; ok && v.kind == k {
						found = append(found, v.text)
					}
				}
			}
		}
	}
	if len(found) == 0 {
		return pool[k]
	}
	return found
}

func names() []string {
	all := []string{"memory", "bandwidth"}
	for _, n := range nameKinds {
		all = append(all, n.name)
	}
	return all
}

func (g *generator) part(text string) string {
	runes := []rune(text)
	if len(runes) < 2 {
		return text
	}
	from := g.r.IntN(len(runes))
	return string(runes[from : from+1+g.r.IntN(len(runes)-from)])
}

type place struct {
	variable, domain, name string
	kinds                  []kind
}

// places lists what some device has: attributes, or capacities.
func (g *generator) places(variable string) []place {
	var all []place
	for _, domain := range []string{ownDomain, otherDomain, sharedPlace} {
		for _, name := range names() {
			p := place{variable: variable, domain: domain, name: name}
			for _, d := range g.devices {
				of := d.attributes
				if variable == "capacity" {
					of = d.capacity
				}
				if v, ok := of[domain][name]; ok {
					p.kinds = append(p.kinds, v.kind)
				}
			}
			if len(p.kinds) > 0 {
				all = append(all, p)
			}
		}
	}
	return all
}

func (g *generator) reference(k kind) (expr, bool) {
	var fit []place
	for _, variable := range []string{"attributes", "capacity"} {
		for _, p := range g.places(variable) {
			fits := 0
			for _, have := range p.kinds {
				if have == k {
					fits++
				}
			}
			if fits >= 2 || fits == 1 && g.chance(0.3) {
				fit = append(fit, p)
			}
		}
	}
	switch {
	case g.chance(0.02):
		return g.spell(g.anywhere()), true
	case len(fit) == 0:
		return expr{}, false
	default:
		return g.spell(pick(g, fit)), true
	}
}

// anywhere is a place that may well be missing.
func (g *generator) anywhere() place {
	return place{
		variable: pick(g, []string{"attributes", "attributes", "capacity"}),
		domain:   pick(g, []string{ownDomain, ownDomain, otherDomain, sharedPlace, "nowhere.example.com", ""}),
		name:     pick(g, append(names(), "absent")),
	}
}

func (g *generator) spell(p place) expr {
	if p.variable == "attributes" {
		for name, domain := range g.domains {
			if domain == p.domain && len(g.domains) == 1 && g.chance(0.8) {
				return g.selected(name, p.name)
			}
		}
	}
	of := "device." + p.variable
	if g.chance(0.003) {
		of = fmt.Sprintf("device[%q]", p.variable)
	}
	return g.selected(fmt.Sprintf("%s[%s]", of, g.quoteName(p.domain)), p.name)
}

func (g *generator) selected(of, name string) expr {
	if g.chance(0.25) {
		return member("%s[%s]", of, g.quoteName(name))
	}
	return member("%s.%s", of, name)
}

func (g *generator) somewhere() place {
	if all := append(g.places("attributes"), g.places("capacity")...); len(all) > 0 && g.chance(0.7) {
		return pick(g, all)
	}
	return g.anywhere()
}

func (g *generator) presence() expr {
	p := g.somewhere()
	switch n := g.r.IntN(100); {
	case n < 50:
		return member("has(device.%s[%s].%s)", p.variable, g.quoteName(p.domain), p.name)
	case n < 75:
		return g.binary("in", pRelation, expr{g.quoteName(p.name), pMember},
			member("device.%s[%s]", p.variable, g.quoteName(p.domain)))
	case n < 90:
		return g.binary("in", pRelation, expr{g.quoteName(p.domain), pMember}, member("device.%s", p.variable))
	case n < 93:
		return member("has(device.%s)", pick(g, []string{"driver", "attributes", "capacity", "allowMultipleAllocations"}))
	case n < 95:
		return member("has(device.%s.%s)", p.variable, p.name)
	case n < 97:
		return member("has(%s)", g.spell(p).text)
	default:
		return g.binary(pick(g, []string{"==", ">"}), pRelation, member("size(device.%s[%s])", p.variable, g.quoteName(p.domain)),
			g.intLiteral(strconv.Itoa(g.r.IntN(4))))
	}
}

// guarded asks for an attribute only where it is present, as the documentation advises.
func (g *generator) guarded(depth int) expr {
	p := g.somewhere()
	k := kQuantity
	if p.variable == "attributes" {
		k = pick(g, scalars[:4])
		if len(p.kinds) > 0 {
			k = p.kinds[0]
		}
	}
	present := member("has(device.%s[%s].%s)", p.variable, g.quoteName(p.domain), p.name)
	if g.chance(0.3) {
		present = g.binary("in", pRelation, expr{g.quoteName(p.name), pMember},
			member("device.%s[%s]", p.variable, g.quoteName(p.domain)))
	}
	use := g.spell(p)
	switch k {
	case kInt, kString:
		use = g.binary(pick(g, []string{"==", "!=", "<", ">="}), pRelation, use, g.expr(k, min(depth, 1)))
	case kVersion, kQuantity:
		if g.chance(0.5) {
			use = g.binary(pick(g, []string{">=", "<", "=="}), pRelation, g.call(use, "compareTo", g.literal(k)), expr{"0", pMember})
		} else {
			use = g.call(use, pick(g, []string{"isGreaterThan", "isLessThan"}), g.literal(k))
		}
	}
	switch g.r.IntN(4) {
	case 0:
		return g.binary("||", pOr, expr{"!" + g.in(present, pMember), pUnary}, use)
	case 1:
		return expr{g.in(present, pOr) + " ? " + g.in(use, pOr) + " : " + pick(g, pool[kBool]), pTernary}
	default:
		return g.binary("&&", pAnd, present, use)
	}
}

func (g *generator) bind(k kind, depth int) expr {
	name := fmt.Sprintf("v%d", g.next)
	g.next++
	if g.chance(0.4) && len(g.domains) == 0 {
		p := g.somewhere()
		g.domains[name] = p.domain
		body := g.expr(k, depth-1)
		delete(g.domains, name)
		return member("cel.bind(%s, device.attributes[%s], %s)", name, g.quoteName(p.domain), body.text)
	}
	of := pick(g, append(scalars, kInts, kStrings))
	init := g.expr(of, depth-1)
	g.variables = append(g.variables, variable{name, of})
	body := g.expr(k, depth-1)
	g.variables = g.variables[:len(g.variables)-1]
	return member("cel.bind(%s, %s, %s)", name, init.text, body.text)
}

func (g *generator) quoteName(text string) string {
	if g.chance(0.3) {
		return "'" + text + "'"
	}
	return `"` + text + `"`
}

func (g *generator) quoteOr(k kind, text string) expr {
	if g.chance(0.06) {
		return g.expr(k, 1)
	}
	return g.quote(text)
}

// quote writes a string in one of the forms that CEL has.
func (g *generator) quote(text string) expr {
	quote := pick(g, []string{`"`, `"`, `'`})
	if !strings.ContainsAny(text, "\"'\t\n") && g.chance(0.1) {
		return expr{pick(g, []string{"r", "r", "R"}) + quote + text + quote, pMember}
	}
	if g.chance(0.02) {
		quote = strings.Repeat(quote, 3)
	}
	escapes := 0.0
	if g.chance(0.1) {
		escapes = 0.4
	}
	var b strings.Builder
	b.WriteString(quote)
	for _, c := range text {
		switch {
		case c == '\\' || string(c) == quote[:1]:
			b.WriteString(`\` + string(c))
		case c == '\t':
			b.WriteString(`\t`)
		case g.chance(escapes):
			b.WriteString(g.escape(c))
		default:
			b.WriteRune(c)
		}
	}
	b.WriteString(quote)
	return expr{b.String(), pMember}
}

func (g *generator) escape(c rune) string {
	forms := []string{fmt.Sprintf(`\U%08x`, c)}
	if c < 0x10000 {
		forms = append(forms, fmt.Sprintf(`\u%04X`, c))
	}
	if c < 0x100 {
		forms = append(forms, fmt.Sprintf(`\x%02x`, c), fmt.Sprintf(`\%03o`, c))
	}
	return pick(g, forms)
}

// oddity is a value that no subset is likely to have.
func (g *generator) oddity() expr {
	return expr{pick(g, []string{"1.5", "2.0", "1e3", "null", "1u", "0x1Fu", `b"abc"`, `{"a": 1}`, "{}", `timestamp("2026-01-01T00:00:00Z")`,
		`duration("1h")`, "int", "type(1)", "dyn(1)", `dyn("A100")`, "double(1)", `int("12")`, "string(12)", "device",
		"device.attributes", `device.attributes["gpu.example.com"]`, "[1, 'a']", "[[1], [2]]", "[]", "unknown", "device.name"}), pMember}
}

// outside is an expression of parts of CEL that are less common in selectors.
func (g *generator) outside() expr {
	a, b := g.spell(g.somewhere()).text, g.expr(kBool, 1).text
	domain, name := g.quoteName(ownDomain), g.quoteName(pick(g, names()))
	i, s := g.expr(kInt, 1).text, g.in(g.expr(kString, 1), pMember)
	forms := []string{
		a,
		a + " == " + g.oddity().text,
		a + " > 1.5",
		a + " == null",
		"dyn(" + a + ") == 1u",
		"1.0 * 2.0 > 1.5",
		"double(" + i + ") > 0.5",
		"[1, 2, 3].exists(x, x == " + i + ")",
		"[1, 2, 3].all(x, x > " + i + ")",
		"[1, 2, 3].exists_one(x, x > " + i + ")",
		"[1, 2, 3].map(x, x * 2).filter(y, y > " + i + ").size() > 0",
		"device.attributes.exists(d, d == " + domain + ")",
		"device.attributes[" + domain + "].all(n, n != " + name + ")",
		"device.attributes[" + domain + "].exists(n, n.startsWith('m'))",
		"device.attributes[" + domain + "][?" + name + "].orValue(false)",
		"device.attributes[" + domain + "][?" + name + "].hasValue()",
		"device.attributes[" + domain + "].?" + strings.Trim(name, `"'`) + ".orValue(" + i + ") == " + i,
		"device.?driver.hasValue()",
		b + " ? 1 : 'a'",
		b + " ? " + a + " : false",
		b + " ? dyn(1) : dyn('a')",
		"(" + b + " ? dyn(1) : dyn('a')) == 1",
		"{'a': 1, 'b': " + i + "}['b'] > 1",
		"{'a': 1}.a == " + i,
		name + " in {'model': 1, 'ecc': 2}",
		"timestamp('2026-01-01T00:00:00Z') < timestamp('2027-01-01T00:00:00Z')",
		"duration('90m') == duration('1h30m')",
		"type(" + a + ") == int",
		"type(" + a + ") == string",
		"string(" + i + ") == " + s,
		"int(" + s + ") == 1",
		s + ".split(';').size() > 1",
		s + ".indexOf('1') >= 0",
		s + ".replace('A', 'H') == 'H100'",
		s + ".substring(0, 1) == 'A'",
		s + ".trim() != ''",
		s + ".charAt(0) == 'A'",
		s + ".find('[0-9]+') == '100'",
		"'%s-%d'.format([" + s + ", " + i + "]) == 'A100-1'",
		"['a', 'b'].join('-') == 'a-b'",
		"[1, 2].isSorted() && [3, 1].max() > " + i,
		"sets.contains([1, 2, 3], [" + i + "])",
		"isIP('10.0.0.1') && ip('10.0.0.1').family() == 4",
		"cidr('10.0.0.0/8').containsIP('10.1.2.3')",
		"url('https://example.com/x').getHost() == 'example.com'",
		"size(b'abc') == 3",
		"device == device",
		"device.attributes[" + domain + "] == device.attributes[" + domain + "]",
		"device.attributes[" + domain + "] == {}",
		"device.attributes[" + i + "].model == 'x'",
		"device.name == 'gpu-0'",
		"quantity(" + s + ").asApproximateFloat() > 1.0",
		"optional.of(" + i + ").value() == 1",
		"matches(" + s + ", 'A')",
		"size(" + a + ") > 0",
		i,
		s,
	}
	return expr{pick(g, forms), pTernary}
}

var token = regexp.MustCompile(`r?"(?:\\.|[^"\\])*"|r?'(?:\\.|[^'\\])*'|[A-Za-z_][A-Za-z_0-9]*|[0-9][0-9A-Za-z.]*|&&|\|\||[<>=!]=|\s+|.`)

// mutate spoils a text the way that people do: most results are no CEL any more, and some mean something else.
func (g *generator) mutate(text string) string {
	tokens := token.FindAllString(text, -1)
	if len(tokens) == 0 {
		return text
	}
	i := g.r.IntN(len(tokens))
	switch g.r.IntN(5) {
	case 0, 1:
		tokens[i] = ""
	case 2:
		tokens[i] += tokens[i]
	case 3:
		tokens[i] += " " + tokens[i]
	default:
		tokens[i] = pick(g, []string{"&&", "||", "==", "=", "&", "and", "not", "(", ")", "]", ".", ",", "'", `"`, "device", "!", "-", "1", "'a'",
			"true", "in", "?", ":", "@", "#", ";", "\x00", "é", "`", "null", "if", "for", "1.", ".5", "\\"})
	}
	return strings.Join(tokens, "")
}
