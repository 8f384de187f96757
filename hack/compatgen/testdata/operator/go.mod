module example.com/operator

go 1.26.0

require (
	example.com/library v0.0.0
	github.com/prometheus/client_golang v1.24.0
	k8s.io/api v0.37.1
	k8s.io/apimachinery v0.37.1
	k8s.io/client-go v0.37.1
	sigs.k8s.io/controller-runtime v0.25.2
)
