//go:build unix

package envtest

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkReset takes back what a small test makes: twenty objects. Making them is not measured.
func BenchmarkReset(b *testing.B) {
	needsOperon(b)
	for name, env := range map[string]*Environment{"api": {}, "controllers": {Nodes: 1}} {
		b.Run(name, func(b *testing.B) {
			_, client := begin(b, env)
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				for i := range 20 {
					if _, err := client.CoreV1().ConfigMaps("default").Create(b.Context(), configMap(fmt.Sprint("c", i)), metav1.CreateOptions{}); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				if err := env.Reset(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
