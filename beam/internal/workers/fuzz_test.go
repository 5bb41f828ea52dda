package workers

import (
	"encoding/json"
	"testing"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// FuzzRequest reads any bytes as the message of a runner that starts a worker, and as the request that a service sends to a
// child. An accepted message names endpoints of this machine, and its request comes back the same.
func FuzzRequest(f *testing.F) {
	for _, m := range []*fnpb.StartWorkerRequest{
		startRequest("1", "localhost:1", "127.0.0.1:2"),
		startRequest("1", "localhost:1", "example.org:2"),
		startRequest("", "localhost:1", "[::1]:2"),
	} {
		b, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"id":"1","control":"localhost:1","logging":"localhost:2","options":{"a":"b"}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			var got request
			_ = json.Unmarshal(b, &got)
			var m fnpb.StartWorkerRequest
			if proto.Unmarshal(b, &m) != nil {
				return
			}
			r, err := newRequest(&m, false)
			if err != nil {
				return
			}
			if !Loopback(r.Control) || !Loopback(r.Logging) || r.ID == "" {
				t.Fatalf("accepted %+v", r)
			}
			text, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var again request
			if err := json.Unmarshal(text, &again); err != nil || again.ID != r.ID || again.Control != r.Control || again.Logging != r.Logging {
				t.Fatalf("found %+v, %v, expected %+v", again, err, r)
			}
		})
	})
}

func startRequest(id, control, logging string) *fnpb.StartWorkerRequest {
	return &fnpb.StartWorkerRequest{WorkerId: id, ControlEndpoint: at(control), LoggingEndpoint: at(logging), ProvisionEndpoint: at("localhost:3")}
}

func at(url string) *pipepb.ApiServiceDescriptor { return &pipepb.ApiServiceDescriptor{Url: url} }
