package accept

import (
	"fmt"
	"slices"
	"strings"
	"time"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
)

// compilation is what is known of the rules of a schema, wherever it is.
type compilation struct {
	schema *schema.Structural
	root   bool
	// runs tells that there are values to run the rules on.
	runs bool

	// ok tells that each of them is right.
	ok    bool
	rules []rule
	// most is how many values there may be in an object where nothing bounds them but its size.
	most uint64
}

// rule is one that is right.
type rule struct {
	// program is there where there are values to run it on.
	program           celgo.Program
	cost, messageCost uint64
	// old tells that it compares with a former value, and asksForOld that it says how.
	old, asksForOld bool
}

// compiler is the environment that new expressions are compiled in.
type compiler struct {
	base *celgo.Env
	// shared are the schemas with rules, each once.
	shared []*compilation
}

func newEnvironment() (*compiler, error) {
	return &compiler{base: environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()).NewExpressionsEnv()}, nil
}

// compile compiles the rules of the schema. They see the value as self and the former one as oldSelf.
func (c *compilation) compile(in *compiler) {
	declared := model.SchemaDeclType(c.schema, c.root)
	if declared == nil {
		return
	}
	// No rule may name the type, so its name is another one each time.
	self := declared.MaybeAssignTypeName(fmt.Sprintf("selfType%d", time.Now().Nanosecond()))
	c.most = uint64(celconfig.MaxRequestSizeBytes / (declared.MinSerializedSize + 1))
	sizes := &library.CostEstimator{SizeEstimator: sizes{declared}}
	provider := apiservercel.NewDeclTypeProvider(self)
	provider.SetRecognizeKeywordAsFieldName(true)
	options, err := provider.EnvOptions(in.base.CELTypeProvider())
	if err != nil {
		return
	}
	options = append(options, celgo.Variable(cel.ScopedVarName, self.CelType()))
	extended := map[bool]*celgo.Env{}
	for _, r := range c.schema.XValidations {
		optional := r.OptionalOldSelf != nil && *r.OptionalOldSelf
		env := extended[optional]
		if env == nil {
			old := self.CelType()
			if optional {
				old = types.NewOptionalType(old)
			}
			if env, err = in.base.Extend(append(slices.Clone(options), celgo.Variable(cel.OldScopedVarName, old))...); err != nil {
				return
			}
			extended[optional] = env
		}
		compiled, ok := c.compileRule(env, r, sizes)
		if !ok {
			return
		}
		c.rules = append(c.rules, compiled)
	}
	c.ok = true
}

var reasons = []v1.FieldValueErrorReason{v1.FieldValueRequired, v1.FieldValueForbidden, v1.FieldValueInvalid, v1.FieldValueDuplicate}

// compileRule tells what a rule costs, and whether it is right.
func (c *compilation) compileRule(env *celgo.Env, r v1.ValidationRule, sizes *library.CostEstimator) (rule, bool) {
	message, text := strings.TrimSpace(r.Message), strings.TrimSpace(r.Rule)
	switch {
	case text == "", message == "" && r.Message != "", strings.ContainsAny(message, "\r\n"), message == "" && strings.ContainsAny(text, "\r\n"):
		return rule{}, false
	case r.Reason != nil && !slices.Contains(reasons, *r.Reason):
		return rule{}, false
	case r.MessageExpression != "" && strings.TrimSpace(r.MessageExpression) == "":
		return rule{}, false
	}
	if r.FieldPath != "" {
		if _, _, err := cel.ValidFieldPath(r.FieldPath, c.schema); err != nil || strings.ContainsAny(r.FieldPath, "\r\n") || strings.TrimSpace(r.FieldPath) == "" {
			return rule{}, false
		}
	}
	compiled, ok := compileExpression(env, r.Rule, celgo.BoolType, c.runs, sizes)
	if !ok {
		return rule{}, false
	}
	compiled.asksForOld = r.OptionalOldSelf != nil
	if r.MessageExpression != "" {
		message, ok := compileExpression(env, r.MessageExpression, celgo.StringType, false, sizes)
		if !ok {
			return rule{}, false
		}
		compiled.messageCost = message.cost
	}
	return compiled, true
}

// compileExpression makes a program of an expression, as the API server does, so that what cannot be run is found too. There is none where it need not
// run, and cannot fail to become one.
func compileExpression(env *celgo.Env, text string, want *celgo.Type, runs bool, sizes *library.CostEstimator) (out rule, ok bool) {
	ast, issues := env.Compile(text)
	if issues != nil || ast.OutputType() != want {
		return rule{}, false
	}
	var err error
	if runs || !becomesProgram(ast.NativeRep().Expr()) {
		out.program, err = env.Program(ast, celgo.CostLimit(celconfig.PerCallLimit), celgo.CostTracking(sizes), celgo.InterruptCheckFrequency(celconfig.CheckFrequency))
		if err != nil {
			return rule{}, false
		}
	}
	for _, reference := range ast.NativeRep().ReferenceMap() {
		out.old = out.old || reference.Name == cel.OldScopedVarName
	}
	estimate, err := env.EstimateCost(ast, sizes)
	out.cost = estimate.Max
	return out, err == nil
}

// becomesProgram tells an expression whose types are right, and of which a program can be made for sure: nothing is called that looks at a constant
// argument before it runs, as regular expressions and conversions do.
func becomesProgram(e celast.Expr) bool {
	sure := true
	celast.PostOrderVisit(e, celast.NewExprVisitor(func(e celast.Expr) {
		sure = sure && (e.Kind() != celast.CallKind || slices.Contains(lateFunctions, e.AsCall().FunctionName()))
	}))
	return sure
}

// lateFunctions do nothing before they run.
var lateFunctions = []string{
	operators.Conditional, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot, operators.NotStrictlyFalse,
	operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
	operators.Add, operators.Subtract, operators.In, operators.Index,
	overloads.Size, overloads.StartsWith, overloads.EndsWith, overloads.Contains,
}

// sizes knows how large the parts of a value may be.
type sizes struct{ self *apiservercel.DeclType }

// EstimateSize follows a path that begins with the value's own name.
func (s sizes) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	if len(element.Path()) == 0 {
		return nil
	}
	at := s.self
	for _, name := range element.Path()[1:] {
		switch name {
		case "@items", "@values":
			at = at.ElemType
		case "@keys":
			at = at.KeyType
		default:
			field := at.Fields[name]
			if field == nil {
				return nil
			}
			at = field.Type
		}
		if at == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Max: uint64(at.MaxElements)}
}

// EstimateCallCost leaves calls to the libraries.
func (sizes) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
