// Package conversion converts objects between the versions of their kind, on
// behalf of API servers.
//
// [NewWebhookHandler] makes the HTTP handler that a
// CustomResourceDefinition's conversion stanza points to. How a kind is
// converted, it learns in one of two ways:
//
//   - from a [Converter] in its [Registry], usually made by [NewHubSpokeConverter] of one
//     [SpokeConverter] for each version that is not the hub; or
//   - from the Go types themselves, when they implement conversion.Hub and
//     conversion.Convertible; [IsConvertible] tells whether they do, for all versions.
//
// Package builder registers both. Package roundtrip tests conversions.
//
// # Guarantees
//
// Two versions that are not the hub are converted through it. A request whose
// objects cannot all be converted is answered with the reason, and so is one
// whose conversion panics. Bodies that hold no ConversionReview are answered with HTTP status
// 400, those larger than 256 MiB with 413, and those of another type than JSON with 415.
//
// # What is not guaranteed
//
// What a conversion does not carry over is lost, except for metadata, whose changes (other than of labels
// and annotations) the API server refuses.
package conversion
