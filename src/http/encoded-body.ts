import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { inTurns } from '../base/text-chunks.ts'

/** The name that a browser saves a CSV file under. */
type CsvFile = { readonly fileName: string }

/** A response body that another thread has encoded, in chunks: JSON, unless it is a file. */
export class EncodedBody {
  readonly #chunks: readonly string[]
  readonly #file: CsvFile | undefined

  constructor(chunks: readonly string[], file?: CsvFile) {
    this.#chunks = chunks
    this.#file = file
  }

  sendTo(reply: FastifyReply): FastifyReply {
    if (this.#file !== undefined)
      reply
        .header('content-disposition', `attachment; filename="${this.#file.fileName}.csv"`)
        .header('cache-control', 'no-store')
    const type = this.#file === undefined ? 'application/json; charset=utf-8' : 'text/csv; charset=utf-8'
    return reply.type(type).send(Readable.from(inTurns(this.#chunks)))
  }
}
