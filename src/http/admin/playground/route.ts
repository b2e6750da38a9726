import { Fault } from '../../../base/fault.ts'
import { requirePermission } from '../../../domain/identity/permissions.ts'
import { playgroundCaller } from '../../../domain/identity/playground-caller.ts'
import { byCallerFormat, type CallerFormat } from '../../../domain/inference/formats.ts'
import { checkProjectHeader } from '../../caller.ts'
import { sendError } from '../../family.ts'
import { fastifyFault } from '../../fastify-errors.ts'
import { createResponder } from '../../inference/respond.ts'
import { InferenceHeaders } from '../../inference/endpoint.ts'
import type { DialectCodec, InferenceParts } from '../../inference/codec.ts'
import { none } from '../../resources/fields.ts'
import { admitRequest } from '../../resources/limit.ts'
import type { EndpointFamily, Route } from '../../route.ts'
import { createQueryValidator, createValidator } from '../../validate.ts'
import type { DirectoryStore } from '../../../domain/identity/store.ts'
import type { AdminSurface } from '../routes.ts'
import { PlaygroundAnswer, PlaygroundBody, PlaygroundEvent } from './schema.ts'

const path = '/v1/organization/playground'
const permission = 'playground:use'

/** How the endpoint of a caller's format decodes requests, and encodes answers and errors. */
export type PlaygroundFormat = Pick<EndpointFamily, 'encodeError'> & { readonly codec: DialectCodec }

export type PlaygroundParts = Omit<InferenceParts, 'callerOf'> &
  Pick<AdminSurface, 'authenticate' | 'limits'> & {
    readonly directory: DirectoryStore
    readonly formats: Readonly<Record<CallerFormat, PlaygroundFormat>>
  }

/** `/v1/organization/playground`: an inference request of an administrator, with the code of the inference endpoints. */
export function playgroundRoute(parts: PlaygroundParts): Route {
  const { authenticate, directory, formats, clock } = parts
  const readBody = createValidator(PlaygroundBody)
  const readQuery = createQueryValidator(none)
  const responders = byCallerFormat((dialect) =>
    createResponder(parts, formats[dialect].codec, { method: 'POST', path, status: 200, dialect }),
  )
  return {
    name: 'tryRequest',
    method: 'POST',
    path,
    summary: 'Try a request',
    description:
      'Sends an inference request as a caller of a project: the same checks, limits and credits apply, and the response or stream is that of the endpoint that `dialect` names. Every model can be named. The audit log names the administrator as the caller. An error of the inference request has the format of this endpoint; other errors have the format of administration.',
    credential: 'admin_key',
    permission,
    bodyLimitBytes: 256 * 1024,
    headers: InferenceHeaders,
    body: PlaygroundBody,
    answers: {
      200: {
        description: 'The response of the endpoint, or with `stream` in `body` its events.',
        schema: PlaygroundAnswer,
        event: PlaygroundEvent,
        headers: ['x-gatehouse-dropped', 'x-gatehouse-hold-back', 'x-gatehouse-switched-model'],
      },
    },
    errorStatuses: [400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504, 529],
    async handle(request, reply) {
      const actor = await authenticate(request)
      using _slot = admitRequest(parts, actor)
      requirePermission(actor.permissions, permission)
      readQuery(request.query)
      const { project_id: projectId, dialect, body } = readBody(request.body ?? missingBody())
      checkProjectHeader(request, projectId)
      const caller = await playgroundCaller(directory, actor, projectId)
      try {
        return await responders[dialect]({ request, reply, body, identify: () => caller })
      } catch (error) {
        return await sendError(formats[dialect], fastifyFault(error), { request, reply, clock })
      }
    },
  }
}

function missingBody(): never {
  throw new Fault('malformed', 'invalid_json', 'The body must be a JSON object.')
}
