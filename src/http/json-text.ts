import type { FastifyReply } from 'fastify'

/** A response body that is already printed. */
export class JsonText {
  readonly #json: string

  constructor(json: string) {
    this.#json = json
  }

  sendTo(reply: FastifyReply): FastifyReply {
    return reply.type('application/json; charset=utf-8').send(this.#json)
  }
}
