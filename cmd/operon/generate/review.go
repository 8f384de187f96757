package generate

import (
	"context"
	"fmt"
	"go/token"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// Review is an object that a generator made, to be put before the checks of the API server itself. They belong to Kubernetes' packages, which
// the generators do without: package admit has them.
type Review struct {
	// Object is the object in JSON, without what no check looks at. Whatever is the same has the same verdict.
	Object []byte
	// OnlyRules tells that nothing but the rules of the object can be wrong.
	OnlyRules bool
	// Explain says where in the source the reasons are: what is a mistake, and what is only doubtful.
	Explain func([]Refusal) (mistakes, doubts []diag.Mistake)
}

// Refusal is one reason for which the API server would refuse an object.
type Refusal struct {
	// Path is the field at fault, such as spec.versions[0].schema.openAPIV3Schema.properties[spec].default.
	Path string
	// Reason is the API server's code, such as "Required value" or "Invalid value".
	Reason string
	// Detail is what it says about that.
	Detail string
	// Value is the value at fault, where it is short enough to be shown.
	Value string
}

// Sentence is what the API server says, without the value, which the source shows.
func (r Refusal) Sentence() string {
	detail := strings.TrimSpace(r.Detail)
	switch r.Reason {
	case "Required value":
		if detail == "" {
			return "is missing"
		}
		return "is missing: " + detail
	case "Duplicate value":
		return fmt.Sprintf("%q is there twice", r.Value)
	case "Unsupported value":
		return fmt.Sprintf("cannot be %q: %s", r.Value, detail)
	}
	if detail == "" {
		return "is refused by the API server"
	}
	return "is refused by the API server: " + detail
}

// A Judge tells what the API server would refuse about an object in JSON.
type Judge func(ctx context.Context, object []byte) ([]Refusal, error)

// A RulesCheck tells, of each of several definitions in JSON, whether its rules are right for sure. It gives no reasons: those are a [Judge]'s.
type RulesCheck func(ctx context.Context, definitions [][]byte) ([]bool, error)

// Report adds what came of reviews to the mistakes and doubts of the input; verdicts has an element for each review. What the generators have found
// themselves is not said again, and what is only doubtful is said only where nothing is wrong. All that it adds is marked as refused.
func (in *Input) Report(reviews []Review, verdicts [][]Refusal) {
	type line struct {
		file string
		line int
	}
	lines, places := map[line]bool{}, map[token.Position]bool{}
	for _, m := range in.Mistakes.Sorted() {
		lines[line{m.Pos.Filename, m.Pos.Line}] = true
	}
	unfounded := len(lines) > 0
	var doubts []diag.Mistake
	for i, review := range reviews {
		found, doubtful := review.Explain(verdicts[i])
		doubts = append(doubts, doubtful...)
		for _, m := range found {
			// The same rule may cost too much in several places: one is enough.
			if lines[line{m.Pos.Filename, m.Pos.Line}] || places[m.Pos] {
				continue
			}
			places[m.Pos], m.Refused = true, true
			in.Mistakes.Add(m)
		}
	}
	if unfounded {
		return
	}
	for _, m := range doubts {
		m.Refused = true
		in.Doubt(m)
	}
}
