//go:build !purego

#include "textflag.h"

// func sumAVX2(y *[Lanes]float64, x []float64, rows []uint32, f float64) bool
//
// The sixteen sums stay in registers. Rows are fetched twelve entries ahead, up to the capacity of the list.
TEXT ·sumAVX2(SB), NOSPLIT, $0-65
	MOVQ y+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), R10
	SHRQ $4, R10             // the rows of x
	MOVQ rows_base+32(FP), R8
	MOVQ rows_len+40(FP), R11
	LEAQ (R8)(R11*4), R11    // the end of the list
	MOVQ rows_cap+48(FP), R12
	LEAQ (R8)(R12*4), R12
	SUBQ $48, R12            // where entries ahead end
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	JMP test
next:
	CMPQ R8, R12
	JAE  sum
	MOVL 48(R8), BX
	SHLQ $7, BX
	PREFETCHT0 0(SI)(BX*1)
	PREFETCHT0 64(SI)(BX*1)
sum:
	MOVL (R8), AX
	CMPQ AX, R10
	JAE  beyond
	SHLQ $7, AX
	VADDPD 0(SI)(AX*1), Y0, Y0
	VADDPD 32(SI)(AX*1), Y1, Y1
	VADDPD 64(SI)(AX*1), Y2, Y2
	VADDPD 96(SI)(AX*1), Y3, Y3
	ADDQ $4, R8
test:
	CMPQ R8, R11
	JB   next
	VBROADCASTSD f+56(FP), Y4
	VMULPD Y4, Y0, Y0
	VMULPD Y4, Y1, Y1
	VMULPD Y4, Y2, Y2
	VMULPD Y4, Y3, Y3
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VZEROUPPER
	MOVB $1, ret+64(FP)
	RET

beyond:
	VZEROUPPER
	MOVB $0, ret+64(FP)
	RET

// func sum32AVX2(y *[Lanes]float32, x []float32, rows []uint32, f float64) bool
//
// As sumAVX2.
TEXT ·sum32AVX2(SB), NOSPLIT, $0-65
	MOVQ y+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), R10
	SHRQ $4, R10
	MOVQ rows_base+32(FP), R8
	MOVQ rows_len+40(FP), R11
	LEAQ (R8)(R11*4), R11
	MOVQ rows_cap+48(FP), R12
	LEAQ (R8)(R12*4), R12
	SUBQ $48, R12
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	JMP test
next:
	CMPQ R8, R12
	JAE  sum
	MOVL 48(R8), BX
	SHLQ $6, BX
	PREFETCHT0 0(SI)(BX*1)
sum:
	MOVL (R8), AX
	CMPQ AX, R10
	JAE  beyond
	SHLQ $6, AX
	VCVTPS2PD 0(SI)(AX*1), Y4
	VCVTPS2PD 16(SI)(AX*1), Y5
	VCVTPS2PD 32(SI)(AX*1), Y6
	VCVTPS2PD 48(SI)(AX*1), Y7
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	ADDQ $4, R8
test:
	CMPQ R8, R11
	JB   next
	VBROADCASTSD f+56(FP), Y4
	VMULPD Y4, Y0, Y0
	VMULPD Y4, Y1, Y1
	VMULPD Y4, Y2, Y2
	VMULPD Y4, Y3, Y3
	VCVTPD2PSY Y0, X0
	VCVTPD2PSY Y1, X1
	VCVTPD2PSY Y2, X2
	VCVTPD2PSY Y3, X3
	VMOVUPS X0, 0(DI)
	VMOVUPS X1, 16(DI)
	VMOVUPS X2, 32(DI)
	VMOVUPS X3, 48(DI)
	VZEROUPPER
	MOVB $1, ret+64(FP)
	RET

beyond:
	VZEROUPPER
	MOVB $0, ret+64(FP)
	RET

// func step32AVX2(y *float32, x []float32, with *float32, columns []uint32, offsets *int64, f []float64, byWith, byY *[Lanes]float64) bool
//
// Y0 to Y3 hold the sums of a row, Y8 to Y11 and Y12 to Y15 the totals. Rows are fetched 24 entries ahead.
TEXT ·step32AVX2(SB), NOSPLIT, $0-113
	MOVQ y+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), R10
	SHRQ $4, R10             // the rows of x
	MOVQ with+32(FP), DX
	MOVQ columns_base+40(FP), R14
	MOVQ columns_len+48(FP), R15
	LEAQ (R14)(R15*4), R12
	SUBQ $96, R12            // where entries ahead end
	MOVQ offsets+64(FP), R9
	MOVQ f_base+72(FP), R13
	MOVQ byWith+96(FP), AX
	MOVQ byY+104(FP), BX
	VMOVUPD 0(AX), Y8
	VMOVUPD 32(AX), Y9
	VMOVUPD 64(AX), Y10
	VMOVUPD 96(AX), Y11
	VMOVUPD 0(BX), Y12
	VMOVUPD 32(BX), Y13
	VMOVUPD 64(BX), Y14
	VMOVUPD 96(BX), Y15
row:
	MOVQ (R9), R8
	MOVQ 8(R9), R11
	CMPQ R8, R15
	JA   beyond
	CMPQ R11, R15
	JA   beyond
	LEAQ (R14)(R8*4), R8
	LEAQ (R14)(R11*4), R11   // the end of the row
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	JMP  test
entry:
	CMPQ R8, R12
	JAE  sum
	MOVL 96(R8), BX
	SHLQ $6, BX
	PREFETCHT0 0(SI)(BX*1)
sum:
	MOVL (R8), AX
	CMPQ AX, R10
	JAE  beyond
	SHLQ $6, AX
	VCVTPS2PD 0(SI)(AX*1), Y4
	VCVTPS2PD 16(SI)(AX*1), Y5
	VCVTPS2PD 32(SI)(AX*1), Y6
	VCVTPS2PD 48(SI)(AX*1), Y7
	VADDPD Y4, Y0, Y0
	VADDPD Y5, Y1, Y1
	VADDPD Y6, Y2, Y2
	VADDPD Y7, Y3, Y3
	ADDQ $4, R8
test:
	CMPQ R8, R11
	JB   entry
	VBROADCASTSD (R13), Y4
	VMULPD Y4, Y0, Y5
	VCVTPD2PSY Y5, X5
	VCVTPS2PD 0(DX), Y6
	VMOVUPS X5, 0(DI)
	VCVTPS2PD X5, Y5
	VMULPD Y0, Y6, Y6
	VMULPD Y0, Y5, Y5
	VADDPD Y6, Y8, Y8
	VADDPD Y5, Y12, Y12
	VMULPD Y4, Y1, Y5
	VCVTPD2PSY Y5, X5
	VCVTPS2PD 16(DX), Y6
	VMOVUPS X5, 16(DI)
	VCVTPS2PD X5, Y5
	VMULPD Y1, Y6, Y6
	VMULPD Y1, Y5, Y5
	VADDPD Y6, Y9, Y9
	VADDPD Y5, Y13, Y13
	VMULPD Y4, Y2, Y5
	VCVTPD2PSY Y5, X5
	VCVTPS2PD 32(DX), Y6
	VMOVUPS X5, 32(DI)
	VCVTPS2PD X5, Y5
	VMULPD Y2, Y6, Y6
	VMULPD Y2, Y5, Y5
	VADDPD Y6, Y10, Y10
	VADDPD Y5, Y14, Y14
	VMULPD Y4, Y3, Y5
	VCVTPD2PSY Y5, X5
	VCVTPS2PD 48(DX), Y6
	VMOVUPS X5, 48(DI)
	VCVTPS2PD X5, Y5
	VMULPD Y3, Y6, Y6
	VMULPD Y3, Y5, Y5
	VADDPD Y6, Y11, Y11
	VADDPD Y5, Y15, Y15
	ADDQ $64, DI
	ADDQ $64, DX
	ADDQ $8, R9
	ADDQ $8, R13
	MOVQ f_base+72(FP), AX
	MOVQ f_len+80(FP), BX
	LEAQ (AX)(BX*8), AX
	CMPQ R13, AX
	JB   row
	MOVQ byWith+96(FP), AX
	MOVQ byY+104(FP), BX
	VMOVUPD Y8, 0(AX)
	VMOVUPD Y9, 32(AX)
	VMOVUPD Y10, 64(AX)
	VMOVUPD Y11, 96(AX)
	VMOVUPD Y12, 0(BX)
	VMOVUPD Y13, 32(BX)
	VMOVUPD Y14, 64(BX)
	VMOVUPD Y15, 96(BX)
	VZEROUPPER
	MOVB $1, ret+112(FP)
	RET

beyond:
	VZEROUPPER
	MOVB $0, ret+112(FP)
	RET

// func step32AVX512(y *float32, x []float32, with *float32, columns []uint32, offsets *int64, f []float64, byWith, byY *[Lanes]float64) bool
//
// As step32AVX2: Z0 and Z1 hold the sums of a row, Z2 and Z3, and Z4 and Z5 the totals.
TEXT ·step32AVX512(SB), NOSPLIT, $0-113
	MOVQ y+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ x_len+16(FP), R10
	SHRQ $4, R10             // the rows of x
	MOVQ with+32(FP), DX
	MOVQ columns_base+40(FP), R14
	MOVQ columns_len+48(FP), R15
	LEAQ (R14)(R15*4), R12
	SUBQ $96, R12            // where entries ahead end
	MOVQ offsets+64(FP), R9
	MOVQ f_base+72(FP), R13
	MOVQ byWith+96(FP), AX
	MOVQ byY+104(FP), BX
	VMOVUPD 0(AX), Z2
	VMOVUPD 64(AX), Z3
	VMOVUPD 0(BX), Z4
	VMOVUPD 64(BX), Z5
row:
	MOVQ (R9), R8
	MOVQ 8(R9), R11
	CMPQ R8, R15
	JA   beyond
	CMPQ R11, R15
	JA   beyond
	LEAQ (R14)(R8*4), R8
	LEAQ (R14)(R11*4), R11   // the end of the row
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	JMP  test
entry:
	CMPQ R8, R12
	JAE  sum
	MOVL 96(R8), BX
	SHLQ $6, BX
	PREFETCHT0 0(SI)(BX*1)
sum:
	MOVL (R8), AX
	CMPQ AX, R10
	JAE  beyond
	SHLQ $6, AX
	VCVTPS2PD 0(SI)(AX*1), Z6
	VCVTPS2PD 32(SI)(AX*1), Z7
	VADDPD Z6, Z0, Z0
	VADDPD Z7, Z1, Z1
	ADDQ $4, R8
test:
	CMPQ R8, R11
	JB   entry
	VBROADCASTSD (R13), Z6
	VMULPD Z6, Z0, Z7
	VCVTPD2PS Z7, Y7
	VCVTPS2PD 0(DX), Z8
	VMOVUPS Y7, 0(DI)
	VCVTPS2PD Y7, Z7
	VMULPD Z0, Z8, Z8
	VMULPD Z0, Z7, Z7
	VADDPD Z8, Z2, Z2
	VADDPD Z7, Z4, Z4
	VMULPD Z6, Z1, Z9
	VCVTPD2PS Z9, Y9
	VCVTPS2PD 32(DX), Z10
	VMOVUPS Y9, 32(DI)
	VCVTPS2PD Y9, Z9
	VMULPD Z1, Z10, Z10
	VMULPD Z1, Z9, Z9
	VADDPD Z10, Z3, Z3
	VADDPD Z9, Z5, Z5
	ADDQ $64, DI
	ADDQ $64, DX
	ADDQ $8, R9
	ADDQ $8, R13
	MOVQ f_base+72(FP), AX
	MOVQ f_len+80(FP), BX
	LEAQ (AX)(BX*8), AX
	CMPQ R13, AX
	JB   row
	MOVQ byWith+96(FP), AX
	MOVQ byY+104(FP), BX
	VMOVUPD Z2, 0(AX)
	VMOVUPD Z3, 64(AX)
	VMOVUPD Z4, 0(BX)
	VMOVUPD Z5, 64(BX)
	VZEROUPPER
	MOVB $1, ret+112(FP)
	RET

beyond:
	VZEROUPPER
	MOVB $0, ret+112(FP)
	RET
