import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Fault, faultCodes, type FaultCode, type FaultKind } from '../../base/fault.ts'
import type { Operations } from './operations.ts'

/** Socket paths are short by law of the kernel; a data folder that lies deep gets its socket elsewhere. */
const maxPathBytes = 100

export function controlSocketPath(dataDir: string): string {
  const inFolder = join(resolve(dataDir), 'control.sock')
  if (Buffer.byteLength(inFolder) <= maxPathBytes) return inFolder
  return join(tmpdir(), `gatehouse-${createHash('sha256').update(inFolder).digest('hex').slice(0, 16)}.sock`)
}

/** The operations of the server that holds this data folder. */
export function remoteOperations(dataDir: string): Operations {
  const socketPath = controlSocketPath(dataDir)
  const operations = new Proxy({}, { get: (_, name) => (input: object) => call(socketPath, String(name), input) })
  return operations as Operations
}

function call(socketPath: string, name: string, input: object): Promise<unknown> {
  return new Promise((resolvePromise, reject) => {
    const outgoing = request({ socketPath, path: `/${name}`, method: 'POST' }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => {
        const { result, error } = JSON.parse(Buffer.concat(chunks).toString()) as Reply
        if (error) reject(faultOf(error))
        else resolvePromise(result)
      })
    })
    outgoing.on('error', (cause) =>
      reject(new Error('The data folder is in use, but its server does not answer on its control socket.', { cause })),
    )
    outgoing.end(JSON.stringify(input))
  })
}

type Reply = { result?: unknown; error?: { kind: FaultKind; code: string; message: string; cause?: string } }

function faultOf({ kind, code, message, cause }: NonNullable<Reply['error']>): Fault {
  return new Fault(kind, isKnown(code) ? code : 'internal_error', message, { cause })
}

const isKnown = (code: string): code is FaultCode => Object.hasOwn(faultCodes, code)
