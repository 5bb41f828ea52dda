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

// func addProducts32AVX2(total *[Lanes]float64, x, y []float32, w []float64)
TEXT ·addProducts32AVX2(SB), NOSPLIT, $0-80
	MOVQ total+0(FP), DI
	MOVQ x_base+8(FP), SI
	MOVQ y_base+32(FP), DX
	MOVQ w_base+56(FP), R8
	MOVQ w_len+64(FP), R9
	LEAQ (R8)(R9*8), R9
	VMOVUPD 0(DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	JMP check
row:
	VBROADCASTSD (R8), Y4
	VCVTPS2PD 0(SI), Y5
	VCVTPS2PD 16(SI), Y6
	VCVTPS2PD 32(SI), Y7
	VCVTPS2PD 48(SI), Y8
	VCVTPS2PD 0(DX), Y9
	VCVTPS2PD 16(DX), Y10
	VCVTPS2PD 32(DX), Y11
	VCVTPS2PD 48(DX), Y12
	VMULPD Y9, Y5, Y5
	VMULPD Y10, Y6, Y6
	VMULPD Y11, Y7, Y7
	VMULPD Y12, Y8, Y8
	VMULPD Y4, Y5, Y5
	VMULPD Y4, Y6, Y6
	VMULPD Y4, Y7, Y7
	VMULPD Y4, Y8, Y8
	VADDPD Y5, Y0, Y0
	VADDPD Y6, Y1, Y1
	VADDPD Y7, Y2, Y2
	VADDPD Y8, Y3, Y3
	ADDQ $64, SI
	ADDQ $64, DX
	ADDQ $8, R8
check:
	CMPQ R8, R9
	JB   row
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VZEROUPPER
	RET
