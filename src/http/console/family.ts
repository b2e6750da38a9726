import { createDefaultErrors, GeneralErrorBody } from '../default-errors.ts'
import type { EndpointFamily } from '../route.ts'
import { oidcRoutes, type OidcParts } from './oidc.ts'
import { consolePageRoutes, type ConsolePageParts } from './pages.ts'
import { signInRoutes, type SignInParts } from './sign-in.ts'

export type ConsoleParts = ConsolePageParts &
  SignInParts & { readonly oidc: OidcParts | undefined; readonly publicUrl: () => string }

/** `/console/*`: the web console and its sign-in. It is a client of the public API like any other. */
export function consoleFamily(parts: ConsoleParts): EndpointFamily {
  return {
    name: 'Console',
    description: 'The web console, and how a browser signs in.',
    prefixes: ['/console'],
    routes: [...signInRoutes(parts), ...oidcRoutes(parts.oidc), ...consolePageRoutes(parts)].map((route) => ({
      ...route,
      isUndescribed: true,
    })),
    encodeError: createDefaultErrors(parts.publicUrl),
    errorSchema: GeneralErrorBody,
  }
}
