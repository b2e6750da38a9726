import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

/**
 * Writes the head of a 200 response and bypasses Fastify, because inference responses need neither its serializer nor its
 * hooks. Headers that were set on the reply before are included.
 */
export function writeHead(reply: FastifyReply, headers: Readonly<Record<string, string>>): ServerResponse {
  const before = reply.getHeaders()
  const all: string[] = []
  for (const name in before) if (before[name] !== undefined && !(name in headers)) all.push(name, String(before[name]))
  for (const name in headers) all.push(name, headers[name] ?? '')
  const raw = reply.raw.writeHead(200, all)
  reply.hijack() // from now on Fastify cannot send an error response
  return raw
}
