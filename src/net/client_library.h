#pragma once

// Internal to the client: cpprestsdk. Workarounds for it are explained where they are made.

#ifndef _TURN_OFF_PLATFORM_STRING
#define _TURN_OFF_PLATFORM_STRING  // otherwise cpprestsdk defines a macro U, a name in fmt
#endif
#include <cpprest/http_client.h>
