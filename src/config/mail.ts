import Type from 'typebox'
import { section } from './section.ts'

function isMailUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { hostname, pathname, search } = new URL(text)
  return hostname !== '' && (pathname === '' || pathname === '/') && search === ''
}

export const Mail = section(
  {
    smtp_url: Type.Optional(
      Type.Refine(
        Type.String({
          pattern: '^smtps?://',
          env: 'GATEHOUSE_SMTP_URL',
          envFile: true,
          description:
            'Mail server: `smtp://user:password@host:587`, or `smtps://` for TLS from the start (port 465). Special characters of the password are percent-encoded. Without it no mail is sent. Take it from a variable or a file: `${NAME}`, `${file:/path}`.',
        }),
        isMailUrl,
        () => 'must be a URL such as smtp://user:password@mail.example.com:587, without a path',
      ),
    ),
    from: Type.Optional(
      Type.String({
        pattern: '^[^\\r\\n]*@[^\\r\\n]+$',
        maxLength: 320,
        description: 'Sender, needed with `smtp_url`: an address, or a name and an address in angle brackets.',
      }),
    ),
    starttls: Type.Enum(['required', 'if_offered', 'never'], {
      default: 'required',
      description:
        'Whether a connection of `smtp://` must be encrypted by STARTTLS. `if_offered` can be downgraded by who controls the network. With `never`, credentials are allowed only to this machine.',
    }),
    ca_file: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Certificate authority of the mail server, in PEM, if it is not a public one.',
      }),
    ),
    timeout_ms: Type.Integer({
      default: 10_000,
      minimum: 100,
      maximum: 15_000,
      description:
        'Timeout of each step: name lookup, connection, greeting and answers. A message takes at most three times as long.',
    }),
    allow_domains: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
      default: [],
      description:
        'Domains of the addresses that mail may be sent to, in lower case. Default: all. Set it if you host the organizations of others.',
    }),
  },
  'Mail of alerts. See [the guide](guide/alerts.md).',
)
