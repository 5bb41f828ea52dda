package objects

import (
	"context"
	"crypto/md5" //nolint:gosec // the sum that servers without CRC-32C check
	"encoding/base64"
	"hash"
	"hash/crc32"
	"io"
	"net/http"

	"github.com/minio/minio-go/v7"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/vfs"
)

const (
	// mostParts is the most parts that an object has.
	mostParts = 10_000
	// sendParts is the number of parts that are sent at a time.
	sendParts = 4
)

const crcHeader = "X-Amz-Checksum-Crc32c"

// writeParts makes a large object. A part whose request fails is sent again, and the other parts are not. With only, the server is asked to refuse an object that is there.
func (s *s3) writeParts(ctx context.Context, key string, f vfs.File, size int64, o minio.PutObjectOptions, only bool) (err error) {
	if s.crc {
		o.UserMetadata["X-Amz-Checksum-Algorithm"] = "CRC32C"
	}
	id, err := s.core.NewMultipartUpload(ctx, s.bucket, key, o)
	if err != nil {
		return s.explained(err)
	}
	defer func() {
		if err != nil {
			_ = s.core.AbortMultipartUpload(context.WithoutCancel(ctx), s.bucket, key, id) // the first error says more, and RemoveAll ends what is left
		}
	}()
	each := max(partBytes, (size/mostParts+1<<20)>>20<<20)
	parts := make([]minio.CompletePart, (size+each-1)/each)
	g, sending := guard.WithContext(ctx)
	g.SetLimit(sendParts)
	for i := range parts {
		g.Go(func() (err error) {
			parts[i], err = s.part(sending, key, id, i+1, io.NewSectionReader(f, int64(i)*each, min(each, size-int64(i)*each)))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	var end minio.PutObjectOptions
	if only {
		end.SetMatchETagExcept("*")
	}
	_, err = s.core.CompleteMultipartUpload(ctx, s.bucket, key, id, parts, end)
	return s.explained(err)
}

// part sends a part. The client library would not repeat a request whose sum comes after its bytes, so the sum is made before.
func (s *s3) part(ctx context.Context, key, id string, number int, data *io.SectionReader) (minio.CompletePart, error) {
	sum := hash.Hash(crc32.New(castagnoli))
	if !s.crc {
		sum = md5.New() //nolint:gosec // see above
	}
	for failed := 1; ; failed++ {
		sum.Reset()
		if _, err := data.Seek(0, io.SeekStart); err != nil {
			return minio.CompletePart{}, &writeError{err}
		}
		if _, err := io.Copy(sum, data); err != nil {
			return minio.CompletePart{}, &writeError{err}
		}
		text := base64.StdEncoding.EncodeToString(sum.Sum(nil))
		o := minio.PutObjectPartOptions{DisableContentSha256: true}
		done := minio.CompletePart{PartNumber: number}
		if s.crc {
			o.CustomHeader = http.Header{crcHeader: {text}}
			done.ChecksumCRC32C = text
		} else {
			o.Md5Base64 = text
		}
		if _, err := data.Seek(0, io.SeekStart); err != nil {
			return done, &writeError{err}
		}
		p, err := s.core.PutObjectPart(ctx, s.bucket, key, id, number, data, data.Size(), o)
		if err == nil {
			done.ETag = p.ETag
			return done, nil
		}
		if err = s.explained(err); ctx.Err() != nil || final(err) || failed == tries {
			return done, because(ctx, err)
		}
		if err := Pause(ctx, failed); err != nil {
			return done, err
		}
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)
