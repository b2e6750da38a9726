import Type from 'typebox'
import type { Route } from '../route.ts'
import { createQueryValidator } from '../validate.ts'

/** Answers what is wrong with a part, or nothing. Without one that is not vital the service serves on, and says so. */
export type ReadinessCheck = {
  readonly part: string
  readonly problem: () => Promise<string | undefined>
  /** Asked after `problem`; without an answer a part is vital. */
  readonly isVital?: () => boolean
}

const parts = Type.Array(Type.Object({ part: Type.String(), problem: Type.String() }))
const Ready = Type.Object({
  status: Type.Literal('ready'),
  degraded: Type.Optional(parts),
})
const NotReady = Type.Object({ status: Type.Literal('not_ready'), failing: parts })

/** `?strict`, `?strict=true`; a value that is neither is a mistake worth telling. */
const ReadyQuery = Type.Object({
  strict: Type.Optional(
    Type.Enum(['', 'true', 'false'], { description: 'Degraded is not ready either: `?strict` or `?strict=true`.' }),
  ),
})

/** Alive: the process answers. Ready: it can serve; if not, the failing part is named. */
export function healthRoutes(checks: readonly ReadinessCheck[]): Route[] {
  const readQuery = createQueryValidator(ReadyQuery)
  return [
    {
      method: 'GET',
      path: '/health/live',
      summary: 'Is the process alive?',
      credential: 'none',
      answers: { 200: { description: 'It is.', schema: Type.Object({ status: Type.Literal('alive') }) } },
      handle: async () => ({ status: 'alive' }),
    },
    {
      method: 'GET',
      path: '/health/ready',
      summary: 'Can it serve?',
      description:
        'Ready means that requests are answered. Parts that are amiss although they are answered are `degraded`; with `?strict` these fail, too.',
      credential: 'none',
      query: ReadyQuery,
      answers: {
        200: { description: 'It can.', schema: Ready },
        503: { description: 'It cannot; the failing parts.', schema: NotReady },
      },
      async handle(request, reply) {
        const { strict = 'false' } = readQuery(request.query)
        const results = await Promise.all(
          checks.map(async ({ part, problem, isVital = () => true }) => {
            const said = await problem()
            return { part, problem: said, isVital: strict !== 'false' || isVital() }
          }),
        )
        const troubled = results.filter((result) => result.problem !== undefined)
        const told = (vital: boolean) =>
          troubled.filter(({ isVital }) => isVital === vital).map(({ part, problem }) => ({ part, problem }))
        const failing = told(true)
        if (failing.length > 0) return reply.code(503).send({ status: 'not_ready', failing })
        const degraded = told(false)
        return degraded.length === 0 ? { status: 'ready' } : { status: 'ready', degraded }
      },
    },
    {
      method: 'GET',
      path: '/',
      summary: 'Say hello',
      description: 'Some clients knock here before they begin.',
      credential: 'none',
      answers: { 200: { description: 'Where to go next.' } },
      handle: async () => ({ name: 'gatehouse', docs: '/docs', openapi: '/openapi.json', health: '/health/ready' }),
    },
  ]
}
