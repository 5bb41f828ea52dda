package flight

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// needToken rejects calls without the token. The time of a rejection reveals nothing about the token, not even its
// length.
func needToken(token string) []grpc.ServerOption {
	want := sha256.Sum256([]byte("Bearer " + token))
	check := func(ctx context.Context) error {
		md, _ := metadata.FromIncomingContext(ctx)
		for _, have := range md.Get("authorization") {
			sum := sha256.Sum256([]byte(have))
			if subtle.ConstantTimeCompare(sum[:], want[:]) == 1 {
				return nil
			}
		}
		return status.Error(codes.Unauthenticated, `found no token or a wrong one, expected the header "authorization: Bearer TOKEN" with the server's token`)
	}
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
			if err := check(ctx); err != nil {
				return nil, err
			}
			return handler(ctx, req)
		}),
		grpc.StreamInterceptor(func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
			if err := check(stream.Context()); err != nil {
				return err
			}
			return handler(srv, stream)
		}),
	}
}
