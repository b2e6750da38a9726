import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build, peersFolder, type Peer } from './peer.ts'

const version = '4.32.5'
const folder = join(peersFolder, `schemathesis-${version}`)
const program = join(folder, 'bin/st')

/** Schemathesis generates requests from an OpenAPI description and checks the responses against it. It is a program, not a server. */
export const schemathesis: Peer = {
  name: 'Schemathesis',
  tests: 'the OpenAPI description',
  variable: 'PEER_SCHEMATHESIS',
  prepare() {
    if (existsSync(program)) return
    build('python3', ['-m', 'venv', folder])
    build(join(folder, 'bin/pip'), ['install', '--quiet', `schemathesis==${version}`])
  },
  start: async () => ({ url: program, [Symbol.asyncDispose]: async () => {} }),
}
