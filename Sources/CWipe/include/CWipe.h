// Overwrites every block of the heap when it is freed; linking it is all there is to do (wipe.c).
#pragma once
