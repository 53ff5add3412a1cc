// Headers of src/epilogue that hold arithmetic are compiled once for each instruction set of the
// CPU (src/cpu). Each such object defines TILEWISE_TARGET to a name of its own before it includes
// them, so that two objects built with different flags never share an inline function (which the
// linker would merge, and which would then run on a machine that lacks the instructions).
#pragma once

#ifndef TILEWISE_TARGET
#define TILEWISE_TARGET portable
#endif
