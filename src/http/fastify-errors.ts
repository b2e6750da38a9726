import { Fault, isFault, toFault } from '../base/fault.ts'

/** Maps an error that Fastify itself throws to a fault. */
export function fastifyFault(error: unknown): Fault {
  const status = statusOf(error)
  if (isFault(error) || status === undefined) return toFault(error)
  if (status === 413) return new Fault('too_large', 'body_too_large', 'The body is too large.', { cause: error })
  if (status === 415)
    return new Fault('malformed', 'invalid_content_type', 'Send the body as application/json.', { cause: error })
  if (status >= 400 && status < 500)
    return new Fault('malformed', 'invalid_request', 'The request is not valid.', { cause: error })
  return toFault(error)
}

const statusOf = (error: unknown): number | undefined =>
  error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : undefined
