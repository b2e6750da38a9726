import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { migrate, readMigrations } from '../../src/adapters/stores/sql/migrate.ts'
import { openSqlite } from '../../src/adapters/stores/sql/sqlite/sqlite.ts'
import { openAlertScene } from '../support/alert-scene.ts'
import { startProgram } from '../support/program.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const program = new URL('programs/sender.ts', import.meta.url)

it('an alert is sent at least once with the same id, although its node is killed before and while it is sent', async () => {
  await using folder = await temporaryFolder()
  const requests: { id: string; response: ServerResponse }[] = []
  let onRequest = (): void => {}
  const server = createServer((request, response) => {
    requests.push({ id: String(request.headers['webhook-id']), response })
    request.resume()
    onRequest()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const arrived = (count: number): Promise<void> =>
    new Promise((resolve) => {
      onRequest = () => void (requests.length >= count && resolve())
      onRequest()
    })
  await prepare(folder.path, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)

  // Killed after the commit, before anything was sent.
  await runUntil([folder.path, 'write'], 'written')
  assert.equal(requests.length, 0)

  // Killed after the receiver got the message, before it answered.
  {
    await using sender = startProgram(program, [folder.path, 'send'])
    await arrived(1)
    await sender.kill()
  }

  // The third process sends it again.
  {
    await using sender = startProgram(program, [folder.path, 'send'])
    await arrived(2)
    requests[1]?.response.writeHead(204).end()
    for await (const line of sender.lines) if (line === 'sent') break
    await sender.kill()
  }
  assert.equal(requests.length, 2)
  assert.equal(new Set(requests.map(({ id }) => id)).size, 1)
  server.closeAllConnections()
  server.close()
})

async function runUntil(args: string[], wanted: string): Promise<void> {
  await using running = startProgram(program, args)
  for await (const line of running.lines) if (line === wanted) break
  await running.kill()
}

async function prepare(dataDir: string, url: string): Promise<void> {
  await using database = await openSqlite({ dataDir })
  await migrate(database, await readMigrations(new URL('../../migrations', import.meta.url).pathname))
  const scene = await openAlertScene(database)
  await scene.addChannel({ config: { url, secret: '••••cdef' } })
}
