import Type from 'typebox'
import { text } from '../described.ts'
import type { Route } from '../route.ts'
import { installationRoute } from './route.ts'

const Server = Type.Object(
  { version: text('The version of the program.'), url: text('The address of the API.') },
  { title: 'RunningServer', examples: [{ version: '0.2.0', url: 'http://127.0.0.1:8080' }] },
)

/** Where the server behind the control socket listens, for commands that know only its data folder. */
export const serverRoute = (parts: { readonly version: string; readonly publicUrl: () => string }): Route =>
  installationRoute({
    name: 'getServer',
    method: 'GET',
    path: '/operator/server',
    summary: 'The version and the address of the running server',
    answer: { description: 'The server.', schema: Server },
    operation: async () => ({ version: parts.version, url: parts.publicUrl() }),
  })
