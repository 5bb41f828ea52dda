package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/operation"
)

// flushTime bounds the wait for spans that are not sent when the program ends.
const flushTime = 5 * time.Second

// openSpans makes the spans of clients that ask for them, and sends them to the collector that OpenTelemetry's environment variables name. Without one there are none, and the provider is nil. The log gets what the
// collector does not take. close sends what is left.
func openSpans(ctx context.Context, log *feed.Log) (_ oteltrace.TracerProvider, end func(), err error) {
	if os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv("OTEL_TRACES_EXPORTER") == "none" || cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")) == "" {
		return nil, func() {}, nil
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Client("that collects spans", err) }))
	var client otlptrace.Client
	switch protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), "grpc"); protocol {
	case "grpc":
		client = otlptracegrpc.NewClient()
	case "http/protobuf":
		client = otlptracehttp.NewClient()
	default:
		return nil, nil, cli.Usagef("found OTEL_EXPORTER_OTLP_PROTOCOL %q, expected grpc or http/protobuf", protocol)
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, nil, fmt.Errorf("the collector of OTEL_EXPORTER_OTLP_ENDPOINT: %w", err)
	}
	of, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "graphmill-flight"), attribute.String("service.version", operation.Version())),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	// A client that asks for a span has a sampled one. Nothing else is recorded.
	p := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(of), trace.WithSampler(trace.ParentBased(trace.NeverSample())))
	return p, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer cancel()
		if err := p.Shutdown(ctx); err != nil {
			log.Client("that collects spans", err)
		}
	}, nil
}
