import Type from 'typebox'
import { text } from '../described.ts'
import type { Route } from '../route.ts'
import { createQueryValidator } from '../validate.ts'

/** Checks one component. If a component that is not vital fails, the service keeps serving and reports it as degraded. */
export type ReadinessCheck = {
  readonly part: string
  readonly problem: () => Promise<string | undefined>
  /** Called after `problem`. Without it the component is vital. */
  readonly isVital?: () => boolean
}

const parts = (description: string) =>
  Type.Array(Type.Object({ part: text('The component.'), problem: text('What is wrong with it.') }), { description })
const Ready = Type.Object(
  {
    status: Type.Literal('ready'),
    degraded: Type.Optional(parts('Components that fail without preventing requests.')),
  },
  { title: 'Readiness', examples: [{ status: 'ready' }] },
)
const NotReady = Type.Object(
  { status: Type.Literal('not_ready'), failing: parts('Components that prevent requests.') },
  { title: 'Unreadiness' },
)

const links = { name: 'gatehouse', docs: '/docs', openapi: '/openapi.json', health: '/health/ready' }
const Service = Type.Object(
  {
    name: Type.Literal('gatehouse'),
    docs: text('The path of the documentation.'),
    openapi: text('The path of the OpenAPI description.'),
    health: text('The path of the readiness check.'),
  },
  { title: 'Service', examples: [links] },
)

/** `?strict` or `?strict=true`. Other values are rejected. */
const ReadyQuery = Type.Object({
  strict: Type.Optional(
    Type.Enum(['', 'true', 'false'], { description: 'Treat degraded as not ready: `?strict` or `?strict=true`.' }),
  ),
})

/** Live: the process responds. Ready: it can serve requests; otherwise the failing components are named. */
export function healthRoutes(checks: readonly ReadinessCheck[], hasConsole = false): Route[] {
  const readQuery = createQueryValidator(ReadyQuery)
  return [
    {
      name: 'getLiveness',
      method: 'GET',
      path: '/health/live',
      summary: 'Liveness',
      credential: 'none',
      answers: {
        200: {
          description: 'The process is alive.',
          schema: Type.Object(
            { status: Type.Literal('alive') },
            { title: 'Liveness', examples: [{ status: 'alive' }] },
          ),
        },
      },
      handle: async () => ({ status: 'alive' }),
    },
    {
      name: 'getReadiness',
      method: 'GET',
      path: '/health/ready',
      summary: 'Readiness',
      description:
        'Ready if requests can be served. Components that fail without preventing that are listed as `degraded`; with `?strict` they make the service not ready.',
      credential: 'none',
      query: ReadyQuery,
      answers: {
        200: { description: 'Ready.', schema: Ready },
        503: { description: 'Not ready, with the failing components.', schema: NotReady },
      },
      errorStatuses: [422],
      async handle(request, reply) {
        const { strict = 'false' } = readQuery(request.query)
        const results = await Promise.all(
          checks.map(async ({ part, problem, isVital = () => true }) => {
            const message = await problem()
            return { part, problem: message, isVital: strict !== 'false' || isVital() }
          }),
        )
        const failed = results.filter((result) => result.problem !== undefined)
        const listed = (vital: boolean) =>
          failed.filter(({ isVital }) => isVital === vital).map(({ part, problem }) => ({ part, problem }))
        const failing = listed(true)
        if (failing.length > 0) return reply.code(503).send({ status: 'not_ready', failing })
        const degraded = listed(false)
        return degraded.length === 0 ? { status: 'ready' } : { status: 'ready', degraded }
      },
    },
    {
      name: 'getHello',
      method: 'GET',
      path: '/api/hello',
      summary: 'Greeting',
      description: 'Claude Code requests this path first, to find out whether the server can be reached.',
      credential: 'none',
      answers: {
        200: {
          description: 'The server can be reached.',
          schema: Type.Object(
            { message: Type.Literal('hello') },
            { title: 'Greeting', examples: [{ message: 'hello' }] },
          ),
        },
      },
      handle: async () => ({ message: 'hello' }),
    },
    {
      name: 'getService',
      method: 'GET',
      path: '/',
      summary: 'Name of the service and links',
      description: 'Some clients request this path first. Browsers are redirected to the console, where it is served.',
      credential: 'none',
      answers: { 200: { description: 'Links.', schema: Service } },
      async handle(request, reply) {
        const isBrowser = request.headers.accept?.includes('text/html') === true
        // Relative, so that it leads to the console below a path prefix too.
        return hasConsole && isBrowser ? reply.code(302).header('location', 'console/').send() : links
      },
    },
  ]
}
