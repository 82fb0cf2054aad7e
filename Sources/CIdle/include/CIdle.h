// Keeps libdispatch's pool monitor out of the program; linking it is all there is to do (dispatch.c).
#pragma once
