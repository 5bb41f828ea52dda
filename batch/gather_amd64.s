//go:build !purego

#include "textflag.h"

// The arguments of a copy: DI dst, SI src, DX width, R8 to CX the offsets of the rows to be
// copied, R9 to R10 those of the rows to be asked for, 16 further on.
#define ARGUMENTS \
	MOVQ dst+0(FP), DI; \
	MOVQ src+8(FP), SI; \
	MOVQ offsets+16(FP), R8; \
	MOVQ n+24(FP), CX; \
	MOVQ offered+32(FP), R10; \
	MOVQ width+40(FP), DX; \
	LEAQ (R8)(CX*8), CX; \
	LEAQ (R8)(R10*8), R10; \
	LEAQ 128(R8), R9

// ASK asks for the lines of the next row, which may begin anywhere in the first.
#define ASK \
	CMPQ R9, R10; \
	JAE  asked; \
	MOVQ (R9), AX; \
	ADDQ $8, R9; \
	ADDQ SI, AX; \
	LEAQ -1(AX)(DX*1), BX; \
	ANDQ $-64, AX; \
ask: \
	PREFETCHT0 (AX); \
	ADDQ $64, AX; \
	CMPQ AX, BX; \
	JBE  ask; \
asked:

// LINES copies the whole 64 bytes of the next row, from AX to R11, with instruction STORE.
#define LINES(STORE) \
	MOVQ (R8), AX; \
	ADDQ $8, R8; \
	ADDQ SI, AX; \
	LEAQ (AX)(DX*1), R11; \
	LEAQ -64(R11), BX; \
	CMPQ AX, BX; \
	JA   words; \
lines: \
	MOVOU (AX), X0; \
	MOVOU 16(AX), X1; \
	MOVOU 32(AX), X2; \
	MOVOU 48(AX), X3; \
	STORE X0, (DI); \
	STORE X1, 16(DI); \
	STORE X2, 32(DI); \
	STORE X3, 48(DI); \
	ADDQ $64, AX; \
	ADDQ $64, DI; \
	CMPQ AX, BX; \
	JBE  lines; \
words:

// func askRows(src *byte, offsets *uintptr, n, width int)
TEXT ·askRows(SB), NOSPLIT, $0-32
	MOVQ src+0(FP), SI
	MOVQ offsets+8(FP), R9
	MOVQ n+16(FP), R10
	MOVQ width+24(FP), DX
	LEAQ (R9)(R10*8), R10
row:
	ASK
	CMPQ R9, R10
	JB   row
	RET

// func copyAhead(dst, src *byte, offsets *uintptr, n, offered, width int)
TEXT ·copyAhead(SB), NOSPLIT, $0-48
	ARGUMENTS
row:
	CMPQ R8, CX
	JAE  done
	ASK
	LEAQ (DI)(DX*1), R12
	LINES(MOVOU)
	CMPQ AX, R11
	JAE  row
	LEAQ -16(R11), BX
	CMPQ AX, BX
	JAE  last
word:
	MOVOU (AX), X0
	MOVOU X0, (DI)
	ADDQ $16, AX
	ADDQ $16, DI
	CMPQ AX, BX
	JB   word
last:
	// The last 16 bytes may overlap those before.
	MOVOU -16(R11), X0
	MOVOU X0, -16(R12)
	MOVQ  R12, DI
	JMP   row
done:
	RET

// func copyAway(dst, src *byte, offsets *uintptr, n, offered, width int)
TEXT ·copyAway(SB), NOSPLIT, $0-48
	ARGUMENTS
row:
	CMPQ R8, CX
	JAE  done
	ASK
	LINES(MOVNTO)
word:
	CMPQ   AX, R11
	JAE    row
	MOVOU  (AX), X0
	MOVNTO X0, (DI)
	ADDQ   $16, AX
	ADDQ   $16, DI
	JMP    word
done:
	// What was stored is seen before what tells of it.
	SFENCE
	RET
