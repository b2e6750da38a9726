import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { Fault } from '../../base/fault.ts'

/** The header schema of reads with an `ETag`. */
export const TagHeaders = Type.Object({
  'If-None-Match': Type.Optional(
    Type.String({
      description: 'The `ETag` of an earlier response. Responds with 304 and no body if nothing has changed since.',
      examples: ['"3"'],
    }),
  ),
})

/** The tag of an object that counts its changes. */
export const revisionTag = ({ revision }: { readonly revision: number }): string => `"${revision}"`

/** The tag of an object without a revision. */
export const contentTag = (body: object): string =>
  `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22)}"`

/** Sends 304 if the caller has the current state. Returns false if the body must be sent. */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  reply.header('etag', tag)
  const seen = request.headers['if-none-match']
  if (seen === undefined) return false
  const tags = seen.split(',').map((each) => each.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(tag)
}

/** Rejects an update of a policy if `If-Match` names another revision than the body does. */
export function requireSameRevision(ifMatch: string | undefined, revision: number): void {
  if (ifMatch === undefined || ifMatch === '*' || ifMatch === revisionTag({ revision })) return
  const message = `If-Match names ${ifMatch}, and the body names revision ${revision}. Read the policy again and send its revision in both.`
  throw new Fault('conflict', 'revision_conflict', message, { option: 'expected_version' })
}
