// The file that tilewise_precompile wrote, as bytes of the program (src/gpu/embedded_cubins.cpp).
// TILEWISE_CUBINS is its path.
__asm__(
    ".section .rodata\n"
    ".global tilewise_cubins_begin\n"
    ".global tilewise_cubins_end\n"
    ".balign 16\n"
    "tilewise_cubins_begin:\n"
    ".incbin \"" TILEWISE_CUBINS
    "\"\n"
    "tilewise_cubins_end:\n"
    ".byte 0\n"
    ".previous\n");
