import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import type { Clock } from '../base/clock.ts'
import { Fault } from '../base/fault.ts'
import { parseJsonObject } from '../base/json.ts'

export type BodyLimits = { readonly clock: Clock; readonly timeoutMs: number }

const jsonType = /^application\/json\s*(;|$)/i

/** Reads a JSON body within the route's limit and the server's patience; what is over either is not read on. */
export function createBodyParser({ clock, timeoutMs }: BodyLimits) {
  return async (request: FastifyRequest, stream: IncomingMessage): Promise<Record<string, unknown> | undefined> => {
    const type = request.headers['content-type']
    if (type === undefined || !jsonType.test(type)) {
      throw new Fault('malformed', 'invalid_content_type', 'Send the body with content-type: application/json.')
    }
    const limit = request.routeOptions.bodyLimit
    if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
    const bytes = await readAll(stream, limit, { clock, timeoutMs })
    // Many clients name a content type whether or not they send anything.
    if (bytes.length === 0 && !takesBody(request)) return undefined
    return parseJsonObject(bytes)
  }
}

/** What the route says about itself; see `routeOptions` of the family. */
const takesBody = ({ routeOptions }: FastifyRequest): boolean => Reflect.get(routeOptions.config, 'takesBody') !== false

function readAll(stream: IncomingMessage, limit: number, { clock, timeoutMs }: BodyLimits): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const cancel = clock.after(timeoutMs, () => {
      const message = `The body was not sent within ${Math.ceil(timeoutMs / 1000)} seconds.`
      stop(() => reject(new Fault('timeout', 'request_timeout', message)))
    })
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk)
      size += chunk.length
      if (size > limit) stop(() => reject(tooLarge(limit)))
    }
    const onEnd = (): void =>
      stop(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)))
    const onBroken = (cause?: unknown): void =>
      stop(() => reject(new Fault('malformed', 'invalid_request', 'The body broke off.', { cause })))
    const stop = (settle: () => void): void => {
      cancel()
      stream.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken)
      stream.pause()
      settle()
    }
    stream.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken)
  })
}

const tooLarge = (limit: number): Fault =>
  new Fault('too_large', 'body_too_large', `The body is over the limit of ${limit} bytes.`)
