import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ownAccount } from '../test/account.ts'
import { startSupervised } from '../test/supervised-server.ts'
import { freePort, waitFor } from '../test/ready.ts'
import { build, peersFolder, type Peer } from './peer.ts'

const version = '5.2.1'
const folder = join(peersFolder, `moto-${version}`)
const program = join(folder, 'bin/moto_server')

/** Moto, a Python simulation of AWS: the security token service, whose roles a sink may assume, and S3. */
export const moto: Peer = {
  name: 'Moto',
  tests: 's3 with assume_role',
  variable: 'PEER_AWS_URL',
  prepare() {
    if (existsSync(program)) return
    mkdirSync(peersFolder, { recursive: true })
    build('python3', ['-m', 'venv', folder])
    build(join(folder, 'bin/pip'), ['install', '--quiet', `moto[server]==${version}`])
  },
  async start() {
    const port = await freePort()
    const server = startSupervised({
      name: 'moto',
      files: {},
      command: [program, '-H', '127.0.0.1', '-p', String(port)],
      stopSignal: 'KILL',
      // The interpreter of the environment may be readable only by this account.
      account: ownAccount(),
    })
    const url = `http://127.0.0.1:${port}`
    await waitFor('Moto', server, async () => void (await fetch(`${url}/moto-api/`)))
    return { url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  },
}
