package crd

import "testing"

// controller-gen makes the plural of the kind as it is written, and lower case of that: "eta" alone would be a plural already.
func TestThePluralIsThatOfTheKindAsItIsWritten(t *testing.T) {
	for kind, want := range map[string]string{"Eta": "etas", "Zeta": "zeta", "SuperPerson": "superpeople", "GrandChild": "grandchildren", "HTTPStatus": "httpstatuses"} {
		if got := newDefinition("example.com", kind).Plural; got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}
