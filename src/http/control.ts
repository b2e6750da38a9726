import { chmodSync, rmSync } from 'node:fs'
import type { FastifyInstance } from 'fastify'

/**
 * Serves the operator's API on a socket file, for the command line while the server holds the embedded database. Only
 * the owner of the file may open it, so requests on it need no credential.
 */
export async function openControlSocket(path: string, server: FastifyInstance): Promise<AsyncDisposable> {
  rmSync(path, { force: true }) // left over from a killed process: the lock of the data folder proves that it is dead
  await server.listen({ path })
  chmodSync(path, 0o600)
  return {
    async [Symbol.asyncDispose]() {
      server.server.closeAllConnections()
      await server.close()
    },
  }
}
