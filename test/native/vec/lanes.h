#pragma once

void check_lanes();
void check_halves();
void check_functions();
