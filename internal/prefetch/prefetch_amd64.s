//go:build !purego

#include "textflag.h"

// func At(table *uint32, at []uint32)
TEXT ·At(SB), NOSPLIT, $0-32
	MOVQ table+0(FP), DI
	MOVQ at_base+8(FP), SI
	MOVQ at_len+16(FP), CX
	LEAQ (SI)(CX*4), CX
	CMPQ SI, CX
	JAE  done
loop:
	MOVL (SI), AX
	PREFETCHT1 (DI)(AX*4)
	ADDQ $4, SI
	CMPQ SI, CX
	JB   loop
done:
	RET

// func Wide(table *float64, at []uint32)
TEXT ·Wide(SB), NOSPLIT, $0-32
	MOVQ table+0(FP), DI
	MOVQ at_base+8(FP), SI
	MOVQ at_len+16(FP), CX
	LEAQ (SI)(CX*4), CX
	CMPQ SI, CX
	JAE  done
loop:
	MOVL (SI), AX
	PREFETCHT1 (DI)(AX*8)
	ADDQ $4, SI
	CMPQ SI, CX
	JB   loop
done:
	RET

// func Hashed(table *uint64, ids []uint32, shift uint8)
TEXT ·Hashed(SB), NOSPLIT, $0-33
	MOVQ table+0(FP), DI
	MOVQ ids_base+8(FP), SI
	MOVQ ids_len+16(FP), DX
	MOVBQZX shift+32(FP), CX
	LEAQ (SI)(DX*4), DX
	MOVQ $0x9E3779B97F4A7C15, R8
	CMPQ SI, DX
	JAE  done
loop:
	MOVL (SI), AX
	IMULQ R8, AX
	SHRQ CX, AX
	PREFETCHT0 (DI)(AX*8)
	ADDQ $4, SI
	CMPQ SI, DX
	JB   loop
done:
	RET
