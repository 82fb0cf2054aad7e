// libyaml's parser: no other file of the project includes a C header of it.
#pragma once

#include <yaml.h>
