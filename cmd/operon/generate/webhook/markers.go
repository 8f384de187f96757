package webhook

import "github.com/operon-dev/operon/cmd/operon/generate/marker"

const (
	hookMarker          = "kubebuilder:webhook"
	configurationMarker = "kubebuilder:webhookconfiguration"
)

// Hook is one webhook, as a marker states it.
type Hook struct {
	// Mutating says that the webhook may change objects; otherwise it validates them.
	Mutating bool
	// Name is the webhook's name, a domain of at least three parts.
	Name string
	// Path is where the service serves the webhook. Either it or URL is set.
	Path string `marker:",optional"`
	// URL is where the webhook is, for one that is not behind a service of the cluster.
	URL string `marker:"url,optional"`
	// ServiceName is the service in front of the webhook. Empty means webhook-service.
	ServiceName string `marker:",optional"`
	// ServiceNamespace is the service's namespace. Empty means system.
	ServiceNamespace string `marker:",optional"`
	// ServicePort is the service's port. Nil leaves it to the API server, which takes 443.
	ServicePort *int32 `marker:",optional"`
	// Groups, Versions and Resources say what objects the webhook is asked about; * is all.
	Groups    []string
	Versions  []string
	Resources []string
	// Verbs are create, update, delete and connect, or * for all.
	Verbs []string
	// FailurePolicy is fail or ignore: what happens to a request when the webhook cannot be reached.
	FailurePolicy string
	// MatchPolicy is Exact or Equivalent. Empty leaves it to the API server, which takes Equivalent.
	MatchPolicy string `marker:",optional"`
	// SideEffects is None or NoneOnDryRun. It may come from Patch instead.
	SideEffects string `marker:",optional"`
	// TimeoutSeconds is between 1 and 30. Nil leaves it to the API server, which takes 10.
	TimeoutSeconds *int32 `marker:",optional"`
	// ReinvocationPolicy is Never or IfNeeded, for a mutating webhook.
	ReinvocationPolicy string `marker:",optional"`
	// AdmissionReviewVersions are the versions of the request that the webhook understands, the preferred first.
	AdmissionReviewVersions []string
	// WebhookVersions are the versions of the configuration to write. v1 is the only one.
	WebhookVersions []string `marker:",optional"`
	// Patch is a JSON object that is merged into the webhook at last; null removes a field.
	Patch string `marker:",optional"`
}

// Configuration names the object that all webhooks of one sort go to.
type Configuration struct {
	// Mutating says which of the two it names.
	Mutating bool
	// Name is the object's name. Empty means mutating-webhook-configuration or validating-webhook-configuration.
	Name string `marker:",optional"`
}

// Markers are what the generator reads.
func (Generator) Markers() []marker.Definition {
	return []marker.Definition{
		marker.Define[Configuration](configurationMarker, marker.OnPackage, marker.Help{
			Category: "Webhook",
			Summary:  "names the webhook configuration that the webhooks of one sort go to.",
			Details:  "// +kubebuilder:webhookconfiguration:mutating=true,name=defaults",
			Fields: map[string]string{
				"Mutating": "whether it is the configuration of the mutating webhooks, or of the validating ones.",
				"Name":     "the configuration's name.",
			},
		}),
		marker.Define[Hook](hookMarker, marker.OnPackage, marker.Help{
			Category: "Webhook",
			Summary:  "is a webhook of the configuration.",
			Details: `It states only what is the program's own affair: what it handles, and where it serves it.

// Validate:
// +kubebuilder:webhook:path=/validate-shop-example-com-v1-order,mutating=false,failurePolicy=fail,sideEffects=None,groups=shop.example.com,resources=orders,verbs=create;update,versions=v1,name=vorder.shop.example.com,admissionReviewVersions=v1

// Set defaults:
// +kubebuilder:webhook:path=/mutate-shop-example-com-v1-order,mutating=true,failurePolicy=fail,sideEffects=None,groups=shop.example.com,resources=orders,verbs=create;update,versions=v1,name=morder.shop.example.com,admissionReviewVersions=v1

// In some namespaces only: add
// ` + "patch=`" + `{"namespaceSelector":{"matchLabels":{"orders":"checked"}}}` + "`",
			Fields: map[string]string{
				"Mutating":                "whether the webhook may change objects; mutating webhooks are called before validating ones.",
				"Name":                    "the webhook's name, a domain of at least three parts.",
				"Path":                    "the path it is served at. Either path or url is given.",
				"URL":                     "the URL it is served at, for a webhook outside the cluster, in quotes.",
				"ServiceName":             "the service in front of it. Defaults to webhook-service.",
				"ServiceNamespace":        "the service's namespace. Defaults to system.",
				"ServicePort":             "the service's port. Defaults to 443.",
				"Groups":                  `the API groups whose objects it is asked about, separated by semicolons; "" is the core group, * is all.`,
				"Versions":                "their API versions, or *.",
				"Resources":               "the resources, plural, or *.",
				"Verbs":                   "create, update, delete, connect, or * for all.",
				"FailurePolicy":           "what happens when the webhook cannot be reached: fail refuses the request, ignore lets it pass.",
				"MatchPolicy":             "Exact matches requests for exactly these groups and versions; Equivalent, the default, also for the same object in others.",
				"SideEffects":             "None, or NoneOnDryRun for a webhook that looks at dryRun itself.",
				"TimeoutSeconds":          "how long the API server waits for an answer, 1 to 30 seconds. Defaults to 10.",
				"ReinvocationPolicy":      "IfNeeded asks to be called again when a later webhook changed the object. Defaults to Never.",
				"AdmissionReviewVersions": "the versions of AdmissionReview that it understands, the preferred first: v1.",
				"WebhookVersions":         "the versions of the configuration objects to generate. Only v1, the default.",
				"Patch":                   "JSON merged into the webhook after everything else, for the fields that have no argument. null removes a field; a list replaces a list.",
			},
		}),
	}
}
