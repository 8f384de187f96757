package migrate

import (
	"go/ast"
	"go/scanner"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
	"github.com/operon-dev/operon/cmd/operon/scaffold/splice"
)

// moves are what the API had in another form before v0.25, in the order in which they are made. All are of controller-runtime's import paths: imports are
// moved last.
var moves = []move{moveReconcilers, moveWebhookBuilders, moveManagerOptions, moveSourceKinds}

// The packages that moves are about.
const (
	builderPath       = gomodule.ControllerRuntime + "/pkg/builder"
	reconcilePath     = gomodule.ControllerRuntime + "/pkg/reconcile"
	managerPath       = gomodule.ControllerRuntime + "/pkg/manager"
	sourcePath        = gomodule.ControllerRuntime + "/pkg/source"
	cachePath         = gomodule.ControllerRuntime + "/pkg/cache"
	webhookPath       = gomodule.ControllerRuntime + "/pkg/webhook"
	metricsServerPath = gomodule.ControllerRuntime + "/pkg/metrics/server"
)

// moveReconcilers gives reconcilers the context that they have been called with since v0.7:
//
//	func (r *GuestbookReconciler) Reconcile(req ctrl.Request) (ctrl.Result, error)
//	func (r *GuestbookReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error)
//
// It has no name in a function that has a ctx of its own.
func moveReconcilers(s *source) map[string]string {
	isRequest := func(e ast.Expr) bool {
		return s.isFrom(e, gomodule.ControllerRuntime, "Request") || s.isFrom(e, reconcilePath, "Request")
	}
	needed := map[string]string{}
	for _, decl := range s.file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Recv == nil || function.Name.Name != "Reconcile" || function.Body == nil {
			continue
		}
		params := function.Type.Params
		if params.NumFields() != 1 || !isRequest(params.List[0].Type) {
			continue
		}
		name := "ctx"
		ast.Inspect(function, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && id.Name == name {
				name = "_"
			}
			return name != "_"
		})
		if len(params.List[0].Names) == 0 {
			name = "" // all parameters of a function have names, or none has
		}
		pkg := s.nameOf("context")
		if pkg == "" {
			pkg = "context"
			needed["context"] = pkg
		}
		s.replace(params.Opening+1, params.Opening+1, strings.TrimLeft(name+" "+pkg+".Context, ", " "))
	}
	return needed
}

// moveWebhookBuilders gives builders of webhooks the object that they are for as an argument, as since v0.23:
//
//	ctrl.NewWebhookManagedBy(mgr).For(&v1.Guestbook{}).WithDefaulter(d)
//	ctrl.NewWebhookManagedBy(mgr, &v1.Guestbook{}).WithCustomDefaulter(d)
func moveWebhookBuilders(s *source) map[string]string {
	// begins returns the call that a chain of calls begins with, if that is of a builder of the earlier form.
	begins := func(e ast.Expr) *ast.CallExpr {
		for {
			call, ok := e.(*ast.CallExpr)
			if !ok {
				return nil
			}
			if s.isCall(call, gomodule.ControllerRuntime, "NewWebhookManagedBy") || s.isCall(call, builderPath, "WebhookManagedBy") {
				if len(call.Args) == 1 {
					return call
				}
				return nil
			}
			link, ok := call.Fun.(*ast.SelectorExpr)
			if !ok {
				return nil
			}
			e = link.X
		}
	}
	objects := map[*ast.CallExpr]bool{}
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, link := linkOf(n)
		if link == nil || link.Sel.Name != "For" || len(call.Args) != 1 {
			return true
		}
		if begin := begins(link.X); begin != nil && begin == link.X {
			objects[begin] = true
			s.replace(begin.Rparen, begin.Rparen, ", "+s.textOf(call.Args[0]))
			s.replace(begin.End(), call.End(), "")
		}
		return true
	})
	ast.Inspect(s.file, func(n ast.Node) bool {
		_, link := linkOf(n)
		if link == nil || link.Sel.Name != "WithDefaulter" && link.Sel.Name != "WithValidator" {
			return true
		}
		if begin := begins(link.X); begin != nil && objects[begin] {
			s.replace(link.Sel.Pos(), link.Sel.Pos()+4, "WithCustom")
		}
		return true
	})
	return nil
}

func linkOf(n ast.Node) (*ast.CallExpr, *ast.SelectorExpr) {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	link, _ := call.Fun.(*ast.SelectorExpr)
	return call, link
}

// isCall reports whether a call is of a function of a package.
func (s *source) isCall(call *ast.CallExpr, path, function string) bool {
	return s.isFrom(call.Fun, path, function)
}

// isFrom reports whether an expression is a name of a package.
func (s *source) isFrom(e ast.Expr, path, name string) bool {
	selector, ok := e.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	pkg, ok := selector.X.(*ast.Ident)
	return ok && pkg.Name == s.nameOf(path)
}

// moveManagerOptions puts options of a manager where they have been since v0.16:
//
//	MetricsBindAddress: ":8080", Port: 9443
//	Metrics: metricsserver.Options{BindAddress: ":8080"}, WebhookServer: webhook.NewServer(webhook.Options{Port: 9443})
func moveManagerOptions(s *source) map[string]string {
	needed := map[string]string{}
	use := func(path, name string) string {
		if there := s.nameOf(path); there != "" {
			return there
		}
		needed[path] = name
		return name
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		options, ok := n.(*ast.CompositeLit)
		if !ok || !s.isFrom(options.Type, gomodule.ControllerRuntime, "Options") && !s.isFrom(options.Type, managerPath, "Options") {
			return true
		}
		var server []*ast.KeyValueExpr
		for _, element := range options.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			switch value := s.textOf(pair.Value); s.textOf(pair.Key) {
			case "MetricsBindAddress":
				s.replace(pair.Pos(), pair.End(), "Metrics: "+use(metricsServerPath, "metricsserver")+".Options{BindAddress: "+value+"}")
			case "Namespace":
				cache := use(cachePath, "cache")
				s.replace(pair.Pos(), pair.End(), "Cache: "+cache+".Options{DefaultNamespaces: map[string]"+cache+".Config{"+value+": {}}}")
			case "Host", "Port", "CertDir", "TLSOpts":
				server = append(server, pair)
			}
		}
		if len(server) == 0 {
			return true
		}
		var fields []string
		for _, pair := range server {
			fields = append(fields, s.textOf(pair.Key)+": "+s.textOf(pair.Value))
		}
		webhook := use(webhookPath, "webhook")
		for i, pair := range server {
			if i == 0 {
				s.replace(pair.Pos(), pair.End(), "WebhookServer: "+webhook+".NewServer("+webhook+".Options{"+strings.Join(fields, ", ")+"})")
				continue
			}
			s.removeElement(pair)
		}
		return true
	})
	return needed
}

// moveSourceKinds has builders watch objects, as since v0.15:
//
//	Watches(&source.Kind{Type: &corev1.Secret{}}, h)
//	Watches(&corev1.Secret{}, h)
func moveSourceKinds(s *source) map[string]string {
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, link := linkOf(n)
		if link == nil || link.Sel.Name != "Watches" || len(call.Args) < 2 {
			return true
		}
		address, ok := call.Args[0].(*ast.UnaryExpr)
		if !ok {
			return true
		}
		kind, ok := address.X.(*ast.CompositeLit)
		if !ok || !s.isFrom(kind.Type, sourcePath, "Kind") || len(kind.Elts) != 1 {
			return true
		}
		if pair, ok := kind.Elts[0].(*ast.KeyValueExpr); ok && s.textOf(pair.Key) == "Type" {
			s.replace(address.Pos(), address.End(), s.textOf(pair.Value))
		}
		return true
	})
	return nil
}

// assetsFunction is the function with which Kubebuilder's suites look for programs that were downloaded.
const assetsFunction = "getFirstFoundEnvTestBinaryDir"

// dropAssets takes out of a test suite the directory of programs that were downloaded: envtest is the operon command now.
func dropAssets(s *source) map[string]string {
	isAssets := func(n ast.Node) bool {
		text := s.textOf(n)
		return strings.Contains(text, `"bin", "k8s"`) || strings.Contains(text, assetsFunction+"()")
	}
	for _, decl := range s.file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if ok && function.Name.Name == assetsFunction && isAssets(function.Body) {
			s.removeLines(function)
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IfStmt:
				if strings.Contains(s.textOf(n.Cond), assetsFunction+"()") && strings.Contains(s.textOf(n.Body), "BinaryAssetsDirectory") && len(n.Body.List) == 1 && n.Else == nil {
					s.removeLines(n)
					return false
				}
			case *ast.KeyValueExpr:
				if s.textOf(n.Key) == "BinaryAssetsDirectory" && isAssets(n.Value) {
					s.removeElement(n)
					return false
				}
			}
			return true
		})
	}
	return nil
}

// settleImports adds imports that a move needs, and takes out those that it left without use.
func settleImports(text string, before *ast.File, needed map[string]string) (string, error) {
	var err error
	for _, path := range sortedKeys(needed) {
		if text, _, err = splice.AddImport(text, needed[path], path); err != nil {
			return "", err
		}
	}
	for _, spec := range before.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !astutil.UsesImport(before, path) {
			continue
		}
		if text, err = splice.RemoveUnusedImport(text, path); err != nil {
			return "", err
		}
	}
	return text, nil
}

// firstOf is the first of the errors of a parser, which says where.
func firstOf(err error) error {
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		return list[0]
	}
	return err
}
