use strict;
use warnings;
use utf8;
use Encode   qw(decode_utf8 encode_utf8);
use JSON::PP qw(decode_json);
use SOAP::Lite;

my ( $wsdl, $text, $binding, $version ) = map { decode_utf8($_) } @ARGV;
binmode STDOUT, ':utf8';

my @pages;
sub handle { push @pages, @_ }
sub show   { print join( "\t", $binding, @_ ), "\n" }

SOAP::Lite->soapversion($version);
my $client = SOAP::Lite->service($wsdl);
$client->serializer->attr( { xmlns => 'http://tempuri.org/' } );
my $id = $client->RecordEvent( SOAP::Data->name( note => $text )->type('string') );

my ( $after, $page ) = ('0');
while ( ( $page = $client->GetEvents( $after, 100 ) ) ne '[]' ) {
    handle($page);
    $after = decode_json( encode_utf8($page) )->[-1]{sequence};
}
my $next = $client->GetEvents( $after, undef, undef, undef, '30s' );

show( note    => $client->GetEvents( undef, undef, $id ) );
show( paging  => @pages );
show( waiting => $next );
