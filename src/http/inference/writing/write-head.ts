import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/**
 * Says that an answer begins, past the framework's own way of sending: inference answers need neither its serializer
 * nor its hooks, and every request would pay for them. Headers that were set before go out with it.
 */
export function writeHead(reply: FastifyReply, headers: Readonly<Record<string, string>>): ServerResponse {
  const before = reply.getHeaders()
  const all: string[] = []
  for (const name in before) if (before[name] !== undefined && !(name in headers)) all.push(name, String(before[name]))
  for (const name in headers) all.push(name, headers[name] ?? '')
  const raw = reply.raw.writeHead(200, all)
  reply.hijack() // from here on the framework cannot say that something failed
  return raw
}
