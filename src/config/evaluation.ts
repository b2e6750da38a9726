import Type from 'typebox'
import { entry, section } from './section.ts'

export const Policies = section(
  {
    judge: Type.Optional(
      entry(
        {
          model: Type.String({
            minLength: 1,
            description:
              'Name of a model in `models`. Use a small model without reasoning: the output limit leaves no tokens for reasoning before the response.',
          }),
          timeout_ms: Type.Integer({
            default: 5_000,
            minimum: 1,
            description: 'Timeout of a call. A call waits in the queue for at most six times as long.',
          }),
          rephrase_timeout_ms: Type.Integer({
            default: 30_000,
            minimum: 1,
            description: 'Timeout for rephrasing a text (`rewrite` and `summary` of the gateway configuration).',
          }),
          fail: Type.Enum(['closed', 'open'], {
            default: 'closed',
            description:
              'What happens if the judge gives no verdict: with `closed` an enforcing rule denies the text, with `open` it allows the text.',
          }),
          max_usd_per_day: Type.Number({
            default: 10,
            minimum: 0,
            description:
              'Cost budget per UTC day at the prices of the model, over all nodes. Above it the judge is not called. Judges of organizations that use models of the installation count as well.',
          }),
          max_concurrent: Type.Integer({ default: 8, minimum: 1, description: 'Concurrent calls.' }),
          remembered_verdicts: Type.Integer({
            default: 10_000,
            minimum: 0,
            description: 'Verdicts in the cache, by judge, policy version and text.',
          }),
        },
        'The model that judges rules in plain language. Without it such a rule matches only the terms, categories and personal data that it names.',
      ),
    ),
    expression_time_ms: Type.Integer({
      default: 250,
      minimum: 1,
      description:
        'Processor time that an expression may use for one text, in addition to its cost limit. Above it the rule counts as not evaluated (`expression_time`), and an enforcing policy denies the text.',
    }),
  },
  'How the rules of policies are evaluated.',
)

export const Explanations = section(
  {
    to_callers: Type.Enum(['code', 'policy', 'evidence'], {
      default: 'code',
      description:
        'What a caller learns about a decision on its own request from `GET /v1/decisions/{event_id}`. `code`: the decision and its reason code. `policy`: also the check, the policy and the exceptions that let it through. `evidence`: also what the checks acted on and where, without the words of the text. Of categories that are always blocked only the code.',
    }),
    appeals: Type.Optional(
      Type.Boolean({
        description:
          'Whether the error response of a denied request has `appeal_url`, the address of a page that says what was denied and takes an appeal without a key, and `explain_url`. Needs `server.public_url`. Default: true if that is set.',
      }),
    ),
  },
  'How decisions are explained and appealed. Administrators get all of it.',
)

export const Moderation = section(
  {
    classifier: Type.Object(
      {
        kind: Type.Enum(['embedded', 'openai'], {
          default: 'embedded',
          description:
            '`embedded`: the bundled model. `openai`: the bundled model, and a moderation endpoint for texts that it is not sure about.',
        }),
        base_url: Type.Optional(
          Type.String({ pattern: '^https?://', description: 'URL of the endpoint, without `/moderations`.' }),
        ),
        api_key: Type.Optional(
          Type.String({
            minLength: 1,
            description: 'API key of the endpoint. Take it from a variable or a file: `${NAME}`, `${file:/path}`.',
          }),
        ),
        model: Type.String({ default: 'omni-moderation-latest', minLength: 1, description: 'Model of the endpoint.' }),
        timeout_ms: Type.Integer({
          default: 2_000,
          minimum: 1,
          description:
            'Timeout of a call. After it the bundled model decides alone, and blocks at a lower score in the categories that are always blocked.',
        }),
        max_concurrent: Type.Integer({ default: 16, minimum: 1, description: 'Concurrent calls.' }),
      },
      {
        additionalProperties: false,
        default: {},
        shorthand: 'kind',
        description:
          'What scores texts in the moderation categories. `classifier: embedded` is short for `classifier: { kind: embedded }`.',
      },
    ),
    encoder_cpu_percent: Type.Integer({
      default: 25,
      minimum: 1,
      maximum: 100,
      description:
        'The share of one processor core that the encoder may use, on average over some seconds. When it is used up, texts keep the verdict of the first stage, and their events say so; texts that may belong to a category that is always blocked are the last to be affected.',
    }),
    encoder: Type.Enum(['auto', 'off', 'required'], {
      default: 'auto',
      description:
        'Whether texts near a threshold are also read by the encoder, a small language model of the package `gatehouse-moderation-encoder`. `auto`: if the package and its run time are installed. `off`: never. `required`: the gateway does not start without it.',
    }),
    crisis_message: Type.String({
      default:
        'This was not sent on. If you are thinking about harming yourself, you do not have to face it alone: in an emergency call your local emergency number, and find someone to talk to, free and in confidence, at https://findahelpline.com.',
      minLength: 1,
      maxLength: 1000,
      description: 'Message to callers whose request is blocked for self-harm. Name a local source of help.',
    }),
    restore_redacted: Type.Boolean({
      default: false,
      description:
        'If a gateway configuration redacts personal data: replace a placeholder in the response by the data of the caller.',
    }),
  },
  'How texts are classified, and what callers receive when a text is blocked or redacted.',
)
