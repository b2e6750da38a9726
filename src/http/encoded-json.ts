import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { inTurns } from '../base/text-chunks.ts'

/** A response body that another thread has encoded, in chunks. */
export class EncodedJson {
  readonly #chunks: readonly string[]

  constructor(chunks: readonly string[]) {
    this.#chunks = chunks
  }

  sendTo(reply: FastifyReply): FastifyReply {
    return reply.type('application/json; charset=utf-8').send(Readable.from(inTurns(this.#chunks)))
  }
}
