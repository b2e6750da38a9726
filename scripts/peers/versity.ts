import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { startSupervised } from '../test/supervised-server.ts'
import { freePort, waitFor } from '../test/ready.ts'
import { build, peersFolder, type Peer } from './peer.ts'

const version = 'v1.7.0'
const folder = join(peersFolder, `versitygw-${version}`)
const program = join(folder, 'versitygw')

/** The credentials of the store, as the suites expect them. */
export const storeAccount = { accessKeyId: 'gatehouse-peer', secretAccessKey: 'a-secret-that-the-peer-checks' }

/** An S3 store over a folder, built with Go. It checks signatures, digests and conditions as AWS does. */
export const versity: Peer = {
  name: 'Versity S3 Gateway',
  tests: 's3',
  variable: 'PEER_S3_URL',
  prepare() {
    if (existsSync(program)) return
    mkdirSync(folder, { recursive: true })
    build('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${version}`], { env: { GOBIN: folder } })
  },
  async start() {
    const port = await freePort()
    const address = `127.0.0.1:${port}`
    const server = startSupervised({
      name: 'versitygw',
      files: {},
      command: [
        '/bin/sh',
        '-c',
        `mkdir store && exec "$1" --port "$2" --access "$3" --secret "$4" posix "$PWD/store"`,
        'versitygw',
        program,
        address,
        storeAccount.accessKeyId,
        storeAccount.secretAccessKey,
      ],
      stopSignal: 'KILL',
    })
    const url = `http://${address}`
    await waitFor('Versity S3 Gateway', server, async () => void (await fetch(url)))
    return { url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  },
}
