//go:build !purego

#include "textflag.h"

// func prefetch(base *byte, offsets *uintptr, n, width int)
TEXT ·prefetch(SB), NOSPLIT, $0-32
	MOVQ base+0(FP), DI
	MOVQ offsets+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ width+24(FP), DX
	LEAQ (SI)(CX*8), CX
row:
	CMPQ SI, CX
	JAE  done
	MOVQ (SI), AX
	ADDQ DI, AX
	LEAQ (AX)(DX*1), BX
line:
	PREFETCHT0 (AX)
	ADDQ $64, AX
	CMPQ AX, BX
	JB   line
	ADDQ $8, SI
	JMP  row
done:
	RET
