//go:build !purego

#include "textflag.h"

// func addAVX2(y, x []float64, at []uint32, a []float64) bool
//
// Blocks of 32 numbers of y, then of 8, stay in registers while the vectors pass.
TEXT ·addAVX2(SB), NOSPLIT, $0-97
	MOVQ y_base+0(FP), DI
	MOVQ y_len+8(FP), CX
	MOVQ x_base+24(FP), SI
	MOVQ x_len+32(FP), R10
	SUBQ CX, R10             // the last offset
	MOVQ at_base+48(FP), R8
	MOVQ at_len+56(FP), R11
	MOVQ a_base+72(FP), R9

wide:
	CMPQ CX, $32
	JB   narrow
	VMOVUPD 0(DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	VMOVUPD 128(DI), Y4
	VMOVUPD 160(DI), Y5
	VMOVUPD 192(DI), Y6
	VMOVUPD 224(DI), Y7
	XORQ BX, BX
wideVector:
	MOVL (R8)(BX*4), AX
	CMPQ AX, R10
	JA   beyond
	VBROADCASTSD (R9)(BX*8), Y8
	LEAQ (SI)(AX*8), DX
	VMULPD 0(DX), Y8, Y9
	VMULPD 32(DX), Y8, Y10
	VMULPD 64(DX), Y8, Y11
	VMULPD 96(DX), Y8, Y12
	VADDPD Y9, Y0, Y0
	VADDPD Y10, Y1, Y1
	VADDPD Y11, Y2, Y2
	VADDPD Y12, Y3, Y3
	VMULPD 128(DX), Y8, Y9
	VMULPD 160(DX), Y8, Y10
	VMULPD 192(DX), Y8, Y11
	VMULPD 224(DX), Y8, Y12
	VADDPD Y9, Y4, Y4
	VADDPD Y10, Y5, Y5
	VADDPD Y11, Y6, Y6
	VADDPD Y12, Y7, Y7
	INCQ BX
	CMPQ BX, R11
	JB   wideVector
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VMOVUPD Y4, 128(DI)
	VMOVUPD Y5, 160(DI)
	VMOVUPD Y6, 192(DI)
	VMOVUPD Y7, 224(DI)
	ADDQ $256, DI
	ADDQ $256, SI
	SUBQ $32, CX
	JMP  wide

narrow:
	CMPQ CX, $8
	JB   done
	VMOVUPD 0(DI), Y0
	VMOVUPD 32(DI), Y1
	XORQ BX, BX
narrowVector:
	MOVL (R8)(BX*4), AX
	CMPQ AX, R10
	JA   beyond
	VBROADCASTSD (R9)(BX*8), Y8
	LEAQ (SI)(AX*8), DX
	VMULPD 0(DX), Y8, Y9
	VMULPD 32(DX), Y8, Y10
	VADDPD Y9, Y0, Y0
	VADDPD Y10, Y1, Y1
	INCQ BX
	CMPQ BX, R11
	JB   narrowVector
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	ADDQ $64, DI
	ADDQ $64, SI
	SUBQ $8, CX
	JMP  narrow

done:
	VZEROUPPER
	MOVB $1, ret+96(FP)
	RET

beyond:
	VZEROUPPER
	MOVB $0, ret+96(FP)
	RET
