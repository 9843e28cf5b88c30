use strict;
use warnings;
use utf8;
use Encode   qw(encode_utf8);
use JSON::PP qw(decode_json);
use SOAP::Lite;

binmode STDOUT, ':utf8';
SOAP::Lite->soapversion('1.1');    # or 1.2
my $client = SOAP::Lite->service('http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx?WSDL=extended');
$client->serializer->attr( { xmlns => 'http://tempuri.org/' } );
$client->on_fault( sub { my ( $soap, $answer ) = @_; die ref $answer ? $answer->faultstring : $soap->transport->status, "\n" } );
sub SOAP::Transport::HTTP::Client::get_basic_credentials { return ( 'any name', 'YOUR-KEY' ) }

print $client->RecordEvent( SOAP::Data->name( note => 'text' )->type('string') ), "\n";

my ( $after, $page ) = ('0');
while ( ( $page = $client->GetEvents( $after, 100 ) ) ne '[]' ) {
    print "$page\n";
    $after = decode_json( encode_utf8($page) )->[-1]{sequence};
}
print $client->GetEvents( $after, undef, undef, undef, '30s' ), "\n";
