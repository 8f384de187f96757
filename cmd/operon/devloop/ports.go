package devloop

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// addressFlags are the flags by which the field's scaffolds, of today and of old, are told where to serve metrics and health probes.
var addressFlags = []string{"metrics-bind-address", "health-probe-bind-address", "metrics-addr"}

// ports are where the loop's managers listen: where their code says, unless somebody else does so already.
type ports struct {
	// given has the port that is used in place of each usual one; the two are the same where that was free.
	given map[int]int
	held  []io.Closer
}

// instead returns the port that a manager is to use for one that its code has. The answer stays the same, and is nobody else's, until
// close.
func (p *ports) instead(usual int) (int, error) {
	if port, ok := p.given[usual]; ok {
		return port, nil
	}
	port, err := usual, errTaken
	if usual != 0 {
		err = p.claim(usual)
	}
	for errors.Is(err, errTaken) {
		if port, err = freePort(); err == nil {
			err = p.claim(port)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("port in place of %d: %w", usual, err)
	}
	if p.given == nil {
		p.given = map[int]int{}
	}
	p.given[usual] = port
	return port, nil
}

// errTaken means that a port, or another thing, is somebody else's.
var errTaken = errors.New("in use")

// claim takes a port, or returns errTaken. Loops that begin at the same time see nobody listen yet: therefore the claim.
func (p *ports) claim(port int) error {
	claim, err := reserve(fmt.Sprint("port ", port))
	if err != nil {
		return err
	}
	// Managers listen at all addresses.
	l, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port)))
	if err != nil {
		return errors.Join(errTaken, claim.Close())
	}
	p.held = append(p.held, claim)
	return l.Close()
}

// close gives the ports up.
func (p *ports) close() error {
	var errs []error
	for _, claim := range p.held {
		errs = append(errs, claim.Close())
	}
	p.held, p.given = nil, nil
	return errors.Join(errs...)
}

// freePort returns a port that nobody listens at. It is none of those that systems give to whoever connects or asks for any port (RFC 6335 has
// them from 49152 on, Linux from 32768): the manager listens there seconds later, when one of these would be somebody's.
func freePort() (int, error) {
	const from, to, tries = 15000, 30000, 100
	var err error
	for range tries {
		var l net.Listener
		port := from + rand.IntN(to-from)
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, l.Close()
		}
	}
	return 0, err
}

// arguments returns further arguments for the manager in a directory, for the addresses that are not free among those that it would use
// without a flag, and sentences on those that were not given before. Flags among args are a person's choice, and stay.
func (p *ports) arguments(dir string, args []string) (more, said []string, err error) {
	defaults, err := addresses(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range addressFlags {
		usual, ok := defaults[name]
		if !ok || slices.ContainsFunc(args, func(arg string) bool { return flagName(arg) == name }) {
			continue
		}
		_, before := p.given[usual]
		port, err := p.instead(usual)
		if err != nil {
			return nil, nil, err
		}
		if port == usual {
			continue
		}
		flag := fmt.Sprintf("--%s=127.0.0.1:%d", name, port)
		more = append(more, flag)
		if !before {
			said = append(said, fmt.Sprintf("port %d is in use: the manager gets %s", usual, flag))
		}
	}
	return more, said, nil
}

// flagName is the name of the flag that an argument is, or begins.
func flagName(arg string) string {
	if !strings.HasPrefix(arg, "-") {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name
}

// addresses are the ports that the program in a directory listens at unless flags say otherwise: of those of addressFlags whose default is an
// address, by their names. Code that does not parse has none: the compiler says what is wrong with it.
func addresses(dir string) (map[string]int, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	found := map[string]int{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil || strings.HasSuffix(path, "_test.go") {
			continue
		}
		// In flag's functions, pflag's too, the default follows the name.
		for node := range ast.Preorder(file) {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				continue
			}
			for i, arg := range call.Args[:max(0, len(call.Args)-1)] {
				name, port := text(arg), portOf(text(call.Args[i+1]))
				if port != 0 && slices.Contains(addressFlags, name) {
					found[name] = port
				}
			}
		}
	}
	return found, nil
}

// text is the value of a string literal, or nothing.
func text(e ast.Expr) string {
	literal, ok := e.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	value, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return value
}

// portOf is the port of an address such as :8081, or 0.
func portOf(address string) int {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return 0
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0
	}
	return int(number)
}
