import Type from 'typebox'
import { entry } from './section.ts'

const reference = 'Take it from a variable or a file: `${NAME}`, `${file:/path}`.'

const Auth = entry(
  {
    access_key_id: Type.String({ minLength: 1, description: 'Access key id.' }),
    secret_access_key: Type.String({ minLength: 1, description: `Secret access key. ${reference}` }),
    session_token: Type.Optional(
      Type.String({ minLength: 1, description: `Session token of temporary credentials. ${reference}` }),
    ),
  },
  'Credentials that may write and read objects of the bucket. Default: `exports.aws`.',
)

const S3 = entry(
  {
    bucket: Type.String({
      pattern: '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$',
      description: 'Name of the bucket, without `s3://`.',
    }),
    region: Type.String({ pattern: '^[a-z0-9-]{1,40}$', description: 'Region of the bucket.' }),
    prefix: Type.Optional(
      Type.String({
        maxLength: 512,
        pattern: "^[A-Za-z0-9!_.*'()/=-]*$",
        description: 'Start of every object key. It must not begin with a slash or contain `..`.',
      }),
    ),
    endpoint: Type.Optional(
      Type.String({
        pattern: '^https?://[^/?#@]+/?$',
        description:
          'Address of an S3-compatible store other than AWS, without a path. The store must support conditional writes (`If-None-Match`).',
      }),
    ),
    force_path_style: Type.Optional(
      Type.Boolean({
        description:
          'Whether the bucket is part of the path instead of the host name. Default: true with `endpoint` or with a dot in the name of the bucket.',
      }),
    ),
    auth: Type.Optional(Auth),
    sse: Type.Optional(
      Type.Enum(['AES256', 'aws:kms'], {
        description: 'Server-side encryption of the objects. Default: the setting of the bucket.',
      }),
    ),
    kms_key_id: Type.Optional(
      Type.String({
        // Helm rejects a pattern that repeats more than 1,000 times.
        pattern: '^[\\x21-\\x7e]+$',
        maxLength: 2048,
        description: 'KMS key that encrypts the objects. Only with `sse` `aws:kms`.',
      }),
    ),
    storage_class: Type.Optional(
      Type.Enum(['STANDARD', 'STANDARD_IA', 'ONEZONE_IA', 'INTELLIGENT_TIERING', 'GLACIER_IR'], {
        description:
          'Storage class of the objects. Default: the setting of the store. For slower classes use a lifecycle rule of the bucket.',
      }),
    ),
    expected_bucket_owner: Type.Optional(
      Type.String({ pattern: '^\\d{12}$', description: 'AWS account that must own the bucket, 12 digits.' }),
    ),
  },
  'Objects in a bucket of S3 or of a compatible store.',
)

export const Archive = entry(
  {
    folder: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Folder for archived events. It must exist. With several nodes, all must reach the same folder.',
      }),
    ),
    s3: Type.Optional(S3),
  },
  'Where events are written before they are removed after `retention_days`: either `folder` or `s3`. Events that cannot be archived are not removed. See [the guide](guide/archive.md).',
)
